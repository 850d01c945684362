#pragma once
// Where the vertices below a lane may lie in a pose.
//
// Linear blend. With p_b the place to which joint b takes the centre of its box, e_b the half
// extent there, weights w_b within m_b ± h_b, and ref any point, a vertex lies in
//   ref + Σ m_b (p_b − ref) ± Σ (h_b |p_b − ref| + (m_b + h_b) e_b),
// and in the union of the boxes p_b ± e_b: the intersection of both is taken.
//
// Dual quaternions: duals.hpp puts a vertex as such a mean with other weights, and an offset.
//
// Shares hold the margin for the rounding of linear blends (see rest.cpp); that of dual
// quaternions, and of palettes that are orthonormal only to their rounding, is Pose::slack.

#include "bvh/refit.hpp"
#include "posed/duals.hpp"

namespace bunraku::BUNRAKU_LEVEL::posed {

inline constexpr float kRounding = 0x1p-20f;  // of the few operations after the sums

struct Box {
  Quad low, high;
};

template <Method kMethod>
BUNRAKU_INLINE Box bound_lane(const RestView& view, const Pose& pose, const Lane& lane) {
  const Share* shares = view.shares + lane.first;
  const std::int32_t* slots = view.slots + lane.first;
  Eight shift{};
  if (pose.morph_weights != nullptr) shift = displacement(view, pose, lane);
  const auto move = [&](int i) {
    const Eight share = bvh::load(shares[i].centre) + shift;
    return moved(pose.columns + 32 * slots[i], share);
  };
  const Eight place = move(0);
  const Quad ref = lower(place), extent = upper(place);
  Box box{ref - extent, ref + extent};
  if (lane.count > 1) {
    [[maybe_unused]] Blend blend;
    if constexpr (kMethod == Method::dqs) {
      if (!dual_blend(view, pose, lane, shift, blend)) return {Quad{} - kInfinity, Quad{} + kInfinity};
    }
    const auto weights = [&](int i, float& middle, float& most) {
      middle = shares[i].weight, most = middle + shares[i].spread;
      if constexpr (kMethod == Method::dqs) {
        most = blend.most[i];
        middle = (most + blend.least[i]) / 2;
      }
    };
    float middle, most;
    weights(0, middle, most);
    Quad sum{}, half = most * extent;
    for (int i = 1; i < lane.count; ++i) {
      const Eight next = move(i);
      const Quad p = lower(next), e = upper(next), low = p - e, high = p + e, apart = p - ref;
      box.low = low < box.low ? low : box.low;
      box.high = high > box.high ? high : box.high;
      weights(i, middle, most);
      sum += middle * apart;
      half += (most - middle) * absolute(apart) + most * e;
    }
    // Numbers that overflow show up here, and bound nothing.
    box.low = half - half == 0 ? box.low : Quad{} - kInfinity;
    box.high = half - half == 0 ? box.high : Quad{} + kInfinity;
    if (lane.weighted) {
      half += kRounding * (absolute(ref) + absolute(sum) + half);
      const Quad low = ref + sum - half, high = ref + sum + half;
      box.low = low > box.low ? low : box.low;
      box.high = high < box.high ? high : box.high;
    }
    if constexpr (kMethod == Method::dqs) {
      box.low += blend.offset - blend.pad;
      box.high += blend.offset + blend.pad;
    }
  }
  if constexpr (kMethod == Method::dqs) {
    box.low -= pose.slack;
    box.high += pose.slack;
  }
  return box;
}

// Bounds of a node's lanes, relative to the pose's centre. Vertices too large for a ray do not
// exist, but the numbers that bound them must not hide others.
template <Method kMethod>
inline void bound_node(const RestView& view, const Pose& pose, std::int64_t index, bvh::Node& node) {
  const Quad centre{pose.centre[0], pose.centre[1], pose.centre[2], 0};
  Quad low[kWidth], high[kWidth];
  for (int i = 0; i < kWidth; ++i) {
    node.child[i] = view.nodes[index].child[i];
    if (node.child[i] == bvh::kEmpty) {
      low[i] = Quad{} + kInfinity;
      high[i] = Quad{} - kInfinity;
      continue;
    }
    const Box box = bound_lane<kMethod>(view, pose, view.lanes[index * kWidth + i]);
    const Quad from = box.low - centre, to = box.high - centre;
    low[i] = from > -bvh::kLargest ? from : Quad{} - kInfinity;
    high[i] = to < bvh::kLargest ? to : Quad{} + kInfinity;
  }
  alignas(32) float rows[3][kWidth];
  bvh::store_columns(rows, low);
  for (int k = 0; k < 3; ++k) bvh::store(node.plane[k][0], bvh::load(rows[k]));
  bvh::store_columns(rows, high);
  for (int k = 0; k < 3; ++k) bvh::store(node.plane[k][1], bvh::load(rows[k]));
}

}  // namespace bunraku::BUNRAKU_LEVEL::posed
