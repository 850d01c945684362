#pragma once
// Walking a tree along one ray: near children first, boxes beyond the closest hit left out.

#include "bvh/packet.hpp"

namespace bunraku::BUNRAKU_LEVEL::bvh {

struct Counts {
  std::int32_t boxes = 0, primitives = 0;
};

inline int lanes_in(const Node& node) {
  int lanes = 0;
  for (int i = 0; i < kWidth; ++i) lanes += node.child[i] != kEmpty;
  return lanes;
}

inline int lanes_in(const Packet& packet) {
  int lanes = 0;
  for (int i = 0; i < kWidth; ++i) lanes += packet.primitive[i] >= 0;
  return lanes;
}

struct Waiting {
  std::int32_t node;
  float near;
};

// Whether the ray meets the box around everything: the first test of a text-book tree.
inline bool meets_root(const TreeView& tree, const Ray& ray) {
  float near = ray.s_min, far = ray.s_max;
  for (int a = 0; a < 3; ++a) {
    const float first = ray.near_side[a] ? tree.high[a] : tree.low[a];
    const float last = ray.near_side[a] ? tree.low[a] : tree.high[a];
    const float enter = (first - tree.centre[a]) * ray.inverse[a] + ray.near_shift[a];
    const float leave = (last - tree.centre[a]) * ray.inverse[a] + ray.far_shift[a];
    near = enter > near ? enter : near;
    far = leave < far ? leave : far;
  }
  return near <= far;
}

// The farthest at the bottom.
template <typename Entry>
BUNRAKU_INLINE void sort_waiting(Entry* bottom, Entry* top) {
  for (Entry* i = bottom + 1; i < top; ++i) {
    const Entry moved = *i;
    Entry* j = i;
    for (; j != bottom && j[-1].near < moved.near; --j) *j = j[-1];
    *j = moved;
  }
}

// The nearest of the boxes still waiting that begins before the ray's end; kEmpty when none does.
BUNRAKU_INLINE std::int32_t next_waiting(const Waiting* stack, Waiting*& top, const Ray& ray) {
  while (top != stack) {
    --top;
    if (top->near <= ray.s_max) return top->node;
  }
  return kEmpty;
}

// From a node to the closest of its children that the ray meets; the others wait.
BUNRAKU_INLINE std::int32_t descend(const Node& node, const Ray& ray, const Slabs& slabs, const Waiting* stack,
                                    Waiting*& top) {
  Eight depths;
  unsigned met = bits(meet(node.plane, ray, slabs, depths));
  if (met == 0) return next_waiting(stack, top, ray);
  const int first = lowest(met);
  met &= met - 1;
  if (met == 0) return node.child[first];
  alignas(32) float near[kWidth];
  store(near, depths);
  const int second = lowest(met);
  met &= met - 1;
  if (met == 0) {
    const bool ordered = near[first] <= near[second];
    const int closer = ordered ? first : second, farther = ordered ? second : first;
    *top++ = {node.child[farther], near[farther]};
    return node.child[closer];
  }
  Waiting* const bottom = top;
  *top++ = {node.child[first], near[first]};
  *top++ = {node.child[second], near[second]};
  do {
    const int lane = lowest(met);
    met &= met - 1;
    *top++ = {node.child[lane], near[lane]};
  } while (met != 0);
  sort_waiting(bottom, top);
  return (--top)->node;
}

// Calls visit(packet) for the packets the ray may meet; it may shrink the ray's range, and
// ends the walk by returning true.
template <bool kCounting, typename Visit>
BUNRAKU_INLINE void walk(const TreeView& tree, Ray& ray, Counts& counts, Visit visit) {
  std::int32_t current = tree.root;
  if (current == kEmpty) return;
  if constexpr (kCounting) {
    if (current >= 0) {
      ++counts.boxes;
      if (!meets_root(tree, ray)) return;
    }
  }
  const Slabs slabs(ray);
  Waiting stack[kStack];
  Waiting* top = stack;
  do {
    if (current < 0) {
      if constexpr (kCounting) counts.primitives += lanes_in(tree.packets[~current]);
      if (visit(~current)) return;
      current = next_waiting(stack, top, ray);
    } else {
      const Node& node = tree.nodes[current];
      if constexpr (kCounting) counts.boxes += lanes_in(node);
      current = descend(node, ray, slabs, stack, top);
    }
  } while (current != kEmpty);
}

}  // namespace bunraku::BUNRAKU_LEVEL::bvh
