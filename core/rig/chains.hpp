#pragma once
// Inverse kinematics by cyclic coordinate descent, as babylon-mmd does it (after saba).
//
// Lanes are frames: each has a mask of those that are still at it, so that a frame gets the same
// bits whichever frames stand beside it.

#include "rig/state.hpp"

namespace bunraku::BUNRAKU_LEVEL::rig {

// Squared distance from effector to goal.
BUNRAKU_LANES V away(const State& state, const RigChain& chain, const V goal[3]) {
  const V* const world = state.nodes[chain.effector].world;
  V square{};
  for (int i = 0; i < 3; ++i) {
    const V d = world[4 * i + 3] - goal[i];
    square += d * d;
  }
  return square;
}

BUNRAKU_LANES void make_unit(V v[3]) {
  const V square = lanes::dot3(v, v);
  const V length = square > 0 ? lanes::root(square) : lanes::splat<double>(1);
  for (int i = 0; i < 3; ++i) v[i] /= length;
}

// What is beyond a limit is mirrored at it in the first half of the loops, if that fits: this is
// what bends knees the right way.
BUNRAKU_LANES V within(const V& angle, double low, double high, bool first) {
  const V under = 2 * low - angle, over = 2 * high - angle;
  const V lowest = lanes::splat<double>(low), highest = lanes::splat<double>(high);
  const V below = first ? (under <= high ? under : lowest) : lowest;
  const V above = first ? (over >= low ? over : highest) : highest;
  return angle < low ? below : (angle > high ? above : angle);
}

BUNRAKU_LANES void turn_about(int axis, const V& angle, V q[4]) {
  V sine, cosine;
  lanes::sine_and_cosine<double>(0.5 * angle, sine, cosine);
  for (int i = 0; i < 3; ++i) q[i] = i == axis ? sine : V{};
  q[3] = cosine;
}

// A rotation split into turns about the three axes, each of them limited.
inline void limit(const RigLink& link, bool first, V q[4]) {
  // Beyond this the split has no second and third angle to speak of.
  constexpr double kSteep = 88 * 3.14159265358979323846 / 180;
  struct Split {
    int axes[3];      // in the order of the product; the middle one by its sine
    int sine, sines[2], cosines[2];  // where in the matrix
  };
  constexpr Split kSplits[3] = {
      {{1, 0, 2}, 5, {2, 3}, {8, 4}},  // Y·X·Z
      {{2, 1, 0}, 6, {3, 7}, {0, 8}},  // Z·Y·X
      {{0, 2, 1}, 1, {7, 2}, {4, 0}},  // X·Z·Y
  };
  const Split& split = kSplits[static_cast<int>(link.order)];
  V m[9], out[4];
  lanes::matrix_of(q, m);
  for (int i = 0; i < 3; ++i) {
    const int axis = split.axes[i];
    const double low = link.low[axis], high = link.high[axis];
    V angle, turn[4];
    if (low == high) {
      angle = lanes::splat<double>(low);
    } else if (i == 1) {
      const V one = lanes::splat<double>(1);
      const V sine = lanes::smallest(lanes::largest(-m[split.sine], -one), one);
      angle = lanes::angle_of<double>(sine, lanes::root((one - sine) * (one + sine)));
      const V steep = lanes::splat<double>(kSteep);
      angle = within(lanes::smallest(lanes::largest(angle, -steep), steep), low, high, first);
    } else {
      angle = within(lanes::angle_of<double>(m[split.sines[i / 2]], m[split.cosines[i / 2]]), low, high, first);
    }
    turn_about(axis, angle, turn);
    if (i == 0) {
      for (int k = 0; k < 4; ++k) out[k] = turn[k];
    } else {
      V product[4];
      lanes::multiply(out, turn, product);
      for (int k = 0; k < 4; ++k) out[k] = product[k];
    }
  }
  for (int k = 0; k < 4; ++k) q[k] = out[k];
}

inline void refresh(State& state, const RigLink& link, const Mask& where) {
  const std::int32_t* const entries = state.job.rig.refreshes;
  for (std::int32_t i = link.refresh; i < link.refresh_end; ++i) {
    if (entries[i] < 0) {
      rebuild<false>(state, ~entries[i], where);
    } else {
      evaluate<false>(state, entries[i], where);
    }
  }
}

// Rows of the inverse of a matrix's linear part times its determinant: a node's parent sees the
// directions of the world through them, or all of them reversed. Nothing is left without inverse.
BUNRAKU_LANES void adjugate(const V world[12], V rows[9]) {
  for (int i = 0; i < 3; ++i) {
    const V* const a = world + (i + 1) % 3;
    const V* const b = world + (i + 2) % 3;
    rows[3 * i] = a[4] * b[8] - a[8] * b[4];
    rows[3 * i + 1] = a[8] * b[0] - a[0] * b[8];
    rows[3 * i + 2] = a[0] * b[4] - a[4] * b[0];
  }
}

BUNRAKU_LANES void turned(const V rows[9], V v[3]) {
  const V given[3] = {v[0], v[1], v[2]};
  for (int i = 0; i < 3; ++i) v[i] = rows[3 * i] * given[0] + rows[3 * i + 1] * given[1] + rows[3 * i + 2] * given[2];
}

// Turns a link so that the effector comes to lie towards the goal, as the link's parent sees both:
// there a turn is one, however the nodes above are scaled or mirrored. It is the same turn if both
// are reversed.
inline void step(State& state, const RigChain& chain, std::int32_t number, const V goal[3], bool first,
                 const Mask& active) {
  const RigView& rig = state.job.rig;
  const RigLink& link = rig.links[number];
  if (link.frozen) return;
  const V* const world = state.nodes[link.node].world;
  const V* const effector = state.nodes[chain.effector].world;
  V e[3], g[3], axis[3];
  for (int i = 0; i < 3; ++i) {
    e[i] = world[4 * i + 3] - effector[4 * i + 3];
    g[i] = world[4 * i + 3] - goal[i];
  }
  if (rig.parents[link.node] >= 0) {
    V rows[9];
    adjugate(state.nodes[rig.parents[link.node]].world, rows);
    turned(rows, e);
    turned(rows, g);
  }
  make_unit(e);
  make_unit(g);
  lanes::cross(e, g, axis);
  const V square = lanes::dot3(axis, axis);
  const Mask turning = active & (square >= kNoAxis);  // not where scales overflow, either
  if (!lanes::any(turning)) return;
  if (link.only >= 0 && first) {
    const V one = lanes::splat<double>(1), sign = axis[link.only] >= 0 ? one : -one;
    for (int i = 0; i < 3; ++i) axis[i] = i == link.only ? sign : V{};
  } else {
    make_unit(axis);
  }

  // Half the angle between e and g, by its sine and cosine; the larger of the two comes first.
  const StepLimit& most = state.job.plain_step ? link.plain : link.grown;
  const V cosine = lanes::dot3(e, g), sine = lanes::root(square);
  const V large = lanes::root(0.5 * (1 + lanes::absolute<double>(cosine))), small = sine / (large + large);
  const Mask obtuse = cosine < 0, too_far = cosine < most.cosine;
  const V half_sine = too_far ? lanes::splat<double>(most.half_sine) : (obtuse ? large : small);
  const V half_cosine = too_far ? lanes::splat<double>(most.half_cosine) : (obtuse ? small : large);

  const V turn[4] = {axis[0] * half_sine, axis[1] * half_sine, axis[2] * half_sine, half_cosine};
  Turn& held = state.ik[link.slot];
  V ik[4];
  lanes::multiply(turn, held.v, ik);
  if (link.limited) {
    const V* const q = state.nodes[link.node].q;
    V whole[4], inverse[4];
    lanes::multiply(ik, q, whole);
    limit(link, first, whole);
    lanes::conjugate(q, inverse);
    lanes::multiply(whole, inverse, ik);
  }
  keep(held.v, ik, turning);
  state.stepped[number] |= turning;
  refresh(state, link, turning);
}

// What lies below links and did not matter for the steps: below those that have turned, and those
// nearer the effector.
inline void settle(State& state, const RigChain& chain) {
  const RigView& rig = state.job.rig;
  for (std::int32_t l = chain.links_end - 1; l >= chain.links; --l) {
    const RigLink& link = rig.links[l];
    if (l + 1 < chain.links_end) state.stepped[l] |= state.stepped[l + 1];
    const Mask done = link.above < 0 ? Mask{} : state.stepped[link.above], where = state.stepped[l] & ~done;
    if (!lanes::any(where)) continue;
    for (std::int32_t i = link.settle; i < link.settle_end; ++i) evaluate<false>(state, rig.settles[i], where);
  }
}

inline void solve_chains_of(State& state, std::int32_t goal, const Mask& where, int depth);

inline void solve(State& state, std::int32_t number, const Mask& where, int depth) {
  const RigView& rig = state.job.rig;
  const RigChain& chain = rig.chains[number];
  V goal[3], still[4];
  identity(still);
  for (int i = 0; i < 3; ++i) goal[i] = state.nodes[chain.goal].world[4 * i + 3];
  for (std::int32_t l = chain.links; l < chain.links_end; ++l) {
    keep(state.ik[rig.links[l].slot].v, still, where);
    state.stepped[l] = Mask{};
  }
  evaluate<false>(state, chain.effector, where);
  if (depth < kNested) solve_chains_of(state, chain.effector, where, depth + 1);
  Mask active = where & ~(away(state, chain, goal) < kReached);
  if (!lanes::any(active)) return;
  for (std::int32_t l = chain.links_end - 1; l >= chain.links; --l) evaluate<false>(state, rig.links[l].node, active);
  evaluate<false>(state, chain.effector, active);
  V best = away(state, chain, goal);
  active &= ~(best < kReached);

  const auto remember = [&](const Mask& which) {
    for (std::int32_t l = chain.links; l < chain.links_end; ++l) {
      keep(state.kept[l].v, state.ik[rig.links[l].slot].v, which);
    }
  };
  if (state.job.keep_best) remember(active);
  for (std::int32_t loop = 0; loop < chain.loops && lanes::any(active); ++loop) {
    for (std::int32_t l = chain.links; l < chain.links_end; ++l) {
      step(state, chain, l, goal, loop < chain.loops / 2, active);
    }
    const V now = away(state, chain, goal);
    if (state.job.keep_best) {
      const Mask worse = active & ~(now < best);
      if (lanes::any(worse) && chain.links < chain.links_end) {
        for (std::int32_t l = chain.links; l < chain.links_end; ++l) {
          keep(state.ik[rig.links[l].slot].v, state.kept[l].v, worse);
          state.stepped[l] |= worse;
        }
        refresh(state, rig.links[chain.links_end - 1], worse);
      }
      active &= ~worse;
      best = now < best ? now : best;
      remember(active);
    }
    active &= ~(now < kReached);
  }
  settle(state, chain);
}

// The chains of a goal, in their own order, in the lanes where they are on.
inline void solve_chains_of(State& state, std::int32_t goal, const Mask& where, int depth) {
  const RigView& rig = state.job.rig;
  for (std::int32_t number = rig.goals[goal]; number < rig.goals[goal + 1]; ++number) {
    const Mask here = where & state.on[number];
    if (state.running[number] || !lanes::any(here)) continue;
    state.running[number] = true;
    solve(state, number, here, depth);
    state.running[number] = false;
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::rig
