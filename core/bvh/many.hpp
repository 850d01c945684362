#pragma once
// Walking a tree along many rays: in groups where they run close together, by turns where not.
//
// A single walk mostly waits: for a mispredicted branch, for a node to come from memory, for
// one instruction of a long chain after the other. With several rays in hand there is always
// something else to do. Each ray gets the answer it would get alone.

#include "bvh/later.hpp"
#include "bvh/traverse.hpp"

namespace bunraku::BUNRAKU_LEVEL::bvh {

// A ray with what is found for it. `index` is its place in the batch.
template <typename Result>
struct Task {
  Ray ray;
  Result result;
  std::int64_t index;
};

BUNRAKU_INLINE void fetch(const TreeView& tree, std::int32_t what) {
  const char* at = what >= 0 ? reinterpret_cast<const char*>(tree.nodes + what)
                             : reinterpret_cast<const char*>(tree.packets + ~what);
  for (int line = 0; line < 4; ++line) __builtin_prefetch(at + 64 * line);
  if (what < 0) __builtin_prefetch(at + 256);
}

// Rays that walk by turns: while one waits for its next node, others go on.
inline constexpr int kTurns = 16;

template <bool kOrdered, typename Result>
struct Walker {
  Task<Result> task;
  std::int32_t current;
  Later<kOrdered> later;
};

// With `kOrdered` children are entered from the nearest to the farthest; where one hit is enough, that
// takes longer than it saves.
//
// start(ray, index) prepares a ray and says whether it is worth a walk; visit(packet, ray,
// result) tests a packet and may end the walk by returning true; finish(index, ray, result)
// takes the answer, `nothing` to begin with.
//
// Walkers at nodes and walkers at packets have turns of their own: what comes next is then mostly
// what came before, which the branch predictor needs.
template <bool kOrdered, typename Result, typename Start, typename Visit, typename Finish>
BUNRAKU_INLINE void walk_by_turns(const TreeView& tree, std::int64_t begin, std::int64_t end, const Result& nothing,
                                  Start start, Visit visit, Finish finish) {
  using Each = Walker<kOrdered, Result>;
  Each walkers[kTurns];
  int at_node[kTurns + 1], at_packet[kTurns + 1], nodes = 0, packets = 0;
  std::int64_t next = begin;
  const auto engage = [&](Each& walker) {
    Task<Result>& task = walker.task;
    while (next < end) {
      task.index = next++;
      task.result = nothing;
      if (start(task.ray, task.index) && tree.root != kEmpty) {
        walker.later.clear();
        walker.current = tree.root;
        return true;
      }
      finish(task.index, task.ray, task.result);
    }
    return false;
  };
  // Where the walker goes on, with a new ray if it is done with its own.
  const auto place = [&](int w) {
    Each& walker = walkers[w];
    if (walker.current == kEmpty) {
      finish(walker.task.index, walker.task.ray, walker.task.result);
      if (!engage(walker)) return;
    }
    fetch(tree, walker.current);
    at_node[nodes] = at_packet[packets] = w;  // in both, to be kept in one: another coin toss less
    nodes += walker.current >= 0;
    packets += walker.current < 0;
  };
  for (int w = 0; w < kTurns && engage(walkers[w]); ++w) place(w);
  while (nodes + packets > 0) {
    do {
      const int count = nodes;
      nodes = 0;
      for (int i = 0; i < count; ++i) {
        Each& walker = walkers[at_node[i]];
        const Node& node = tree.nodes[walker.current];
        Eight near;
        const Mask met = meet(node.plane, walker.task.ray, Slabs(walker.task.ray), near);
        walker.later.push(node, met, near);
      }
      for (int i = 0; i < count; ++i) {
        Each& walker = walkers[at_node[i]];
        walker.current = walker.later.pop(walker.task.ray);
        place(at_node[i]);
      }
    } while (nodes > kTurns / 2);
    const int count = packets;
    packets = 0;
    for (int i = 0; i < count; ++i) {
      Each& walker = walkers[at_packet[i]];
      Task<Result>& task = walker.task;
      walker.current = visit(~walker.current, task.ray, task.result) ? kEmpty : walker.later.pop(task.ray);
      place(at_packet[i]);
    }
  }
}

// Rays that walk as one: a node is taken up once for all of the group that meet its box. Primary
// rays took 112, 104, 97 ns in groups of 8, 16, 32, alone 135.
inline constexpr int kGroup = 32;

struct WaitingGroup {
  std::int32_t node;
  std::uint32_t rays;           // one bit each
  float near;                   // the least of theirs
};

// As walk_by_turns(), for neighbours that run close together.
template <bool kOrdered, typename Result, typename Start, typename Visit, typename Finish>
BUNRAKU_INLINE void walk_in_groups(const TreeView& tree, std::int64_t begin, std::int64_t end, const Result& nothing,
                                   Start start, Visit visit, Finish finish) {
  Task<Result> group[kGroup];
  WaitingGroup stack[kStack];
  for (std::int64_t first = begin; first < end; first += kGroup) {
    const int count = static_cast<int>(end - first < kGroup ? end - first : kGroup);
    std::uint32_t walking = 0;
    for (int i = 0; i < count; ++i) {
      Task<Result>& task = group[i];
      task.result = nothing;
      if (!start(task.ray, first + i)) continue;
      walking |= 1u << i;
    }
    WaitingGroup* top = stack;
    if (tree.root != kEmpty) *top++ = {tree.root, walking, -kInfinity};
    while (top != stack) {
      const WaitingGroup now = *--top;
      std::uint32_t rays = now.rays & walking;
      if (now.node < 0) {
        for (; rays != 0; rays &= rays - 1) {
          const int i = lowest(rays);
          Task<Result>& task = group[i];
          if (now.near <= task.ray.s_max && visit(~now.node, task.ray, task.result)) walking &= ~(1u << i);
        }
        continue;
      }
      const Node& node = tree.nodes[now.node];
      Eight nearest = splat(kInfinity);
      Mask meeting{};
      for (; rays != 0; rays &= rays - 1) {
        const int i = lowest(rays);
        Eight near;
        const Mask met = meet(node.plane, group[i].ray, Slabs(group[i].ray), near);
        nearest = met ? min(near, nearest) : nearest;
        meeting |= met & static_cast<std::int32_t>(1u << i);
      }
      unsigned children = bits(meeting != 0);
      if (children == 0) continue;
      alignas(32) float near[kWidth];
      alignas(32) std::uint32_t meets[kWidth];
      store(near, nearest);
      *reinterpret_cast<Mask*>(meets) = meeting;
      [[maybe_unused]] WaitingGroup* const bottom = top;
      for (; children != 0; children &= children - 1) {
        const int lane = lowest(children);
        *top++ = {node.child[lane], meets[lane], near[lane]};
      }
      if constexpr (kOrdered) sort_waiting(bottom, top);
    }
    for (int i = 0; i < count; ++i) finish(first + i, group[i].ray, group[i].result);
  }
}

template <bool kOrdered, typename Result, typename Start, typename Visit, typename Finish>
BUNRAKU_INLINE void walk_many(const TreeView& tree, bool coherent, std::int64_t begin, std::int64_t end,
                              const Result& nothing, Start start, Visit visit, Finish finish) {
  if (coherent) {
    walk_in_groups<kOrdered>(tree, begin, end, nothing, start, visit, finish);
  } else {
    walk_by_turns<kOrdered>(tree, begin, end, nothing, start, visit, finish);
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::bvh
