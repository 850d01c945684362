// Groups of frames, as many as a register has lanes, through all nodes in evaluation order.

#include "rig/rig.hpp"

#include "rig/chains.hpp"

namespace bunraku::BUNRAKU_LEVEL {
namespace {

using namespace rig;

// Three numbers of each frame; four are loaded, which the very last node of the array cannot give.
BUNRAKU_LANES void gather3(const Rows<const double>& rows, bool final, V v[4]) {
  if (final) {
    double copies[kLanes][4] = {};
    for (int l = 0; l < kLanes; ++l) {
      for (int i = 0; i < 3; ++i) copies[l][i] = rows[l][i];
    }
    Lanes<double>::gather(Rows<const double>{copies[0], 4, kLanes - 1}, v);
  } else {
    Lanes<double>::gather(rows, v);
  }
}

// Own motions of all nodes in the frames [first, first + last]; everything at rest.
void start(State& state, std::int64_t first, int last) {
  const RigJob& job = state.job;
  const RigView& rig = job.rig;
  const bool reaches_end = first + last + 1 == job.frames;
  for (std::int32_t i = 0; i < rig.nodes; ++i) {
    const std::int64_t at = first * rig.nodes + i;
    const bool final = reaches_end && i == rig.nodes - 1;
    V t[4], s[4];
    Node& node = state.nodes[i];
    const std::int32_t number = rig.append_of[i];
    V* const q = number < 0 ? node.q : state.raw[number].q;
    V* const p = number < 0 ? node.p : state.raw[number].p;
    gather3(Rows<const double>{job.translations + 3 * at, 3 * rig.nodes, last}, final, t);
    Lanes<double>::gather(Rows<const double>{job.rotations + 4 * at, 4 * rig.nodes, last}, q);
    gather3(Rows<const double>{job.scales + 3 * at, 3 * rig.nodes, last}, final, s);
    for (int c = 0; c < 3; ++c) {
      p[c] = t[c] - rig.rest[3 * i + c];
      node.scale[c] = s[c];
    }
    if (number >= 0) {
      const RigAppend& append = rig.appends[number];
      identity(node.q);
      for (int c = 0; c < 4 && !append.rotation; ++c) node.q[c] = q[c];
      for (int c = 0; c < 3; ++c) node.p[c] = append.translation ? V{} : p[c];
    }
    for (int r = 0; r < 3; ++r) {
      for (int c = 0; c < 3; ++c) node.world[4 * r + c] = lanes::splat<double>(r == c);
      node.world[4 * r + 3] = lanes::splat<double>(rig.places[3 * i + r]);
    }
  }
  for (std::int64_t i = 0; i < rig.link_slots; ++i) identity(state.ik[i].v);
  for (std::int64_t i = 0; i < rig.chain_count; ++i) {
    Mask on = ~Mask{};
    for (int l = 0; l < kLanes && job.ik != nullptr; ++l) {
      const bool* const switches = job.ik + (first + (l < last ? l : last)) * rig.chain_count;
      on[l] = switches[rig.chain_index[i]] ? -1 : 0;
    }
    state.on[i] = on;
    state.running[i] = false;
  }
}

void finish(const State& state, std::int64_t first, int last) {
  const RigView& rig = state.job.rig;
  for (std::int32_t i = 0; i < rig.nodes; ++i) {
    double* const out = state.job.globals + 12 * (first * rig.nodes + i);
    for (int r = 0; r < 3; ++r) {
      V row[4];
      for (int c = 0; c < 4; ++c) row[c] = state.nodes[i].world[4 * r + c];
      Lanes<double>::scatter(row, Rows<double>{out + 4 * r, 12 * rig.nodes, last});
    }
  }
}

struct Layout {
  std::int64_t nodes, raw, ik, kept, stepped, on, running, end;
};

Layout layout(const RigView& rig) {
  const std::int64_t links = rig.chain_count == 0 ? 0 : rig.chains[rig.chain_count - 1].links_end;
  Layout at{};
  at.raw = at.nodes + rig.nodes * static_cast<std::int64_t>(sizeof(Node));
  at.ik = at.raw + rig.append_count * static_cast<std::int64_t>(sizeof(Raw));
  at.kept = at.ik + rig.link_slots * static_cast<std::int64_t>(sizeof(Turn));
  at.stepped = at.kept + links * static_cast<std::int64_t>(sizeof(Turn));
  at.on = at.stepped + links * static_cast<std::int64_t>(sizeof(Mask));
  at.running = at.on + rig.chain_count * static_cast<std::int64_t>(sizeof(Mask));
  at.end = at.running + rig.chain_count;
  return at;
}

std::int64_t scratch_bytes(const RigView& rig) { return layout(rig).end; }

void run(const RigJob& job, std::int64_t begin, std::int64_t end, void* scratch) {
  char* const base = static_cast<char*>(scratch);
  const Layout at = layout(job.rig);
  State state{job,
              reinterpret_cast<Node*>(base + at.nodes),
              reinterpret_cast<Raw*>(base + at.raw),
              reinterpret_cast<Turn*>(base + at.ik),
              reinterpret_cast<Turn*>(base + at.kept),
              reinterpret_cast<Mask*>(base + at.stepped),
              reinterpret_cast<Mask*>(base + at.on),
              reinterpret_cast<bool*>(base + at.running)};
  const Mask all = ~Mask{};
  for (std::int64_t first = begin; first < end; first += kLanes) {
    const int last = static_cast<int>((end - first < kLanes ? end - first : kLanes) - 1);
    start(state, first, last);
    for (std::int64_t i = 0; i < job.rig.nodes; ++i) {
      const std::int32_t node = job.rig.order[i];
      evaluate<true>(state, node, all);
      if (job.rig.goals[node] < job.rig.goals[node + 1]) solve_chains_of(state, node, all, 0);
    }
    finish(state, first, last);
  }
}

}  // namespace

extern const RigKernels rig_kernels{&scratch_bytes, &run};

}  // namespace bunraku::BUNRAKU_LEVEL
