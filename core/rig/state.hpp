#pragma once
// What is known of the nodes of a group of frames, one frame per lane, while they are evaluated.

#include "rig/rig.hpp"
#include "rotation/matrix.hpp"

namespace bunraku::BUNRAKU_LEVEL::rig {

namespace lanes = bunraku::BUNRAKU_LEVEL::rotation;
using V = lanes::Vector<double>;
using Mask = lanes::Mask<double>;
inline constexpr int kLanes = Lanes<double>::kCount;

struct Node {
  V world[12];  // 3×4 rows; at rest until evaluated
  V q[4], p[3]; // own motion and what appends gave, nothing of both for appending nodes at first
  V scale[3];
};

struct Raw {
  V q[4], p[3];  // own motion of an appending node
};

struct Turn {
  V v[4];
};

// Arrays in the scratch memory.
struct State {
  const RigJob& job;
  Node* nodes;
  Raw* raw;      // per append
  Turn* ik;      // per link slot
  Turn* kept;    // per link of all chains: the best so far
  Mask* stepped; // per link of all chains: lanes in which it has turned
  Mask* on;      // per chain
  bool* running; // per chain
};

template <class T, int N>
BUNRAKU_LANES void keep(T (&to)[N], const T (&from)[N], const Mask& where) {
  for (int i = 0; i < N; ++i) to[i] = where ? from[i] : to[i];
}

BUNRAKU_LANES void identity(V q[4]) {
  for (int i = 0; i < 4; ++i) q[i] = lanes::splat<double>(i == 3);
}

// `ratio` times the turn by the shorter way, also beyond 0 … 1.
inline void scale_turn(const V from[4], double ratio, V out[4]) {
  V q[4] = {from[0], from[1], from[2], from[3]};
  lanes::turn_to_positive_side(q);
  if (ratio == 1 || ratio == -1) {
    for (int i = 0; i < 3; ++i) out[i] = ratio * q[i];
    out[3] = q[3];
    return;
  }
  const V length = lanes::root(lanes::dot3(q, q));
  V sine, cosine;
  lanes::sine_and_cosine<double>(ratio * lanes::angle_in_first_quadrant<double>(length, q[3]), sine, cosine);
  const V share = length > 0 ? sine / (length > 0 ? length : lanes::splat<double>(1)) : V{};
  for (int i = 0; i < 3; ++i) out[i] = share * q[i];
  out[3] = cosine;
}

// The rotation of a matrix whose columns may be scaled.
inline void unscaled(const V world[12], V m[9]) {
  for (int c = 0; c < 3; ++c) {
    const V square = world[c] * world[c] + world[4 + c] * world[4 + c] + world[8 + c] * world[8 + c];
    const V length = square > 0 ? lanes::root(square) : lanes::splat<double>(1);
    for (int r = 0; r < 3; ++r) m[3 * r + c] = world[4 * r + c] / length;
  }
}

// The motion of a source that an append takes its share of.
inline void taken(const State& state, const RigAppend& append, V q[4], V p[3]) {
  const RigView& rig = state.job.rig;
  const Node& source = state.nodes[append.source];
  if (append.local) {
    V m[9];
    unscaled(source.world, m);
    lanes::quaternion_of<double>(m, q);
    for (int i = 0; i < 3; ++i) p[i] = source.world[4 * i + 3] - rig.places[3 * append.source + i];
    return;
  }
  // What the source's own append takes is in its q or p; the other of the two is its own motion.
  for (int i = 0; i < 4; ++i) q[i] = source.q[i];
  for (int i = 0; i < 3; ++i) p[i] = source.p[i];
  const std::int32_t slot = rig.slot_of[append.source];
  if (slot >= 0) lanes::multiply(state.ik[slot].v, source.q, q);
}

// A node's matrix out of what is known of it, in the lanes of `where` or in all.
template <bool kAll>
BUNRAKU_LANES void rebuild(State& state, std::int32_t index, const Mask& where) {
  const RigView& rig = state.job.rig;
  Node& node = state.nodes[index];
  V q[4] = {node.q[0], node.q[1], node.q[2], node.q[3]}, r[9], local[12], out[12];
  const std::int32_t slot = rig.slot_of[index], parent = rig.parents[index];
  if (slot >= 0) lanes::multiply(state.ik[slot].v, node.q, q);
  lanes::matrix_of(q, r);
  for (int i = 0; i < 3; ++i) {
    for (int c = 0; c < 3; ++c) local[4 * i + c] = r[3 * i + c] * node.scale[c];
    local[4 * i + 3] = rig.rest[3 * index + i] + node.p[i];
  }
  if (parent < 0) {
    for (int i = 0; i < 12; ++i) out[i] = local[i];
  } else {
    const V* const p = state.nodes[parent].world;
    for (int i = 0; i < 3; ++i) {
      for (int c = 0; c < 4; ++c) {
        out[4 * i + c] = p[4 * i] * local[c] + p[4 * i + 1] * local[4 + c] + p[4 * i + 2] * local[8 + c];
      }
      out[4 * i + 3] += p[4 * i + 3];
    }
  }
  for (int i = 0; i < 12; ++i) node.world[i] = kAll ? out[i] : (where ? out[i] : node.world[i]);
}

// Append, then the node's matrix.
template <bool kAll>
inline void evaluate(State& state, std::int32_t index, const Mask& where) {
  const RigView& rig = state.job.rig;
  const std::int32_t number = rig.append_of[index];
  if (number >= 0) {
    const RigAppend& append = rig.appends[number];
    const Raw& raw = state.raw[number];
    Node& node = state.nodes[index];
    V turn[4], move[3];
    taken(state, append, turn, move);
    if (append.rotation) {
      V share[4], q[4];
      scale_turn(turn, append.ratio, share);
      lanes::multiply(raw.q, share, q);
      keep(node.q, q, where);
    }
    if (append.translation) {
      V p[3];
      for (int i = 0; i < 3; ++i) p[i] = raw.p[i] + append.ratio * move[i];
      keep(node.p, p, where);
    }
  }
  rebuild<kAll>(state, index, where);
}

}  // namespace bunraku::BUNRAKU_LEVEL::rig
