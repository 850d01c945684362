#pragma once
// Where the vertices below a lane may lie in a pose.
//
// Linear blend. With p_b the place to which joint b takes the centre of its box, e_b the half
// extent there, weights w_b within m_b ± h_b, and ref any point, a vertex lies in
//   ref + Σ m_b (p_b − ref) ± Σ (h_b |p_b − ref| + (m_b + h_b) e_b),
// and in the union of the boxes p_b ± e_b: the intersection of both is taken.
//
// Dual quaternions. Where the joints' stretches are alike and their quaternions q_i lie within a
// right angle of each other (c_ij = q_i · q_j > 0), a vertex is
//   Σ α_i p_i + Σ_{i<j} (w_i w_j / |b|²) (p_i − p_j) × s_ij,   α_i = w_i (b · q_i) / |b|²,
// so the same bounds hold with intervals of α, widened by D sin φ S / (1 − 2 S (1 − cos φ)) with
// S = (1 − 1/N) / 2, D = max |p_i − p_j|, cos φ = min c_ij. Elsewhere a lane is not bounded.
//
// Shares hold the margin for the rounding of linear blends (see prepare.cpp); that of dual
// quaternions, and of palettes that are orthonormal only to their rounding, is Pose::slack.

#include "bvh/refit.hpp"
#include "posed/posed.hpp"
#include "skinning/narrow.hpp"

namespace bunraku::BUNRAKU_LEVEL::posed {

using namespace bunraku::posed;
using bvh::Eight;
using bvh::Quad;
using bvh::Ray;

inline constexpr float kInfinity = __builtin_inff();
inline constexpr float kUnlike = 1.5e-6f;      // stretches that differ by less count as the same
inline constexpr float kLeastCosine = 0.05f;  // below, the padding is too large to be of use
inline constexpr int kMostDuals = 32;         // joints of a lane whose quaternions are compared
inline constexpr float kRounding = 0x1p-20f;  // of the few operations after the sums

struct Box {
  Quad low, high;
};

BUNRAKU_INLINE Quad splat(float x) { return x - Quad{}; }
BUNRAKU_INLINE Quad absolute(const Quad& a) { return a > -a ? a : -a; }
BUNRAKU_INLINE Quad lower(const Eight& a) { return __builtin_shufflevector(a, a, 0, 1, 2, 3); }
BUNRAKU_INLINE Quad upper(const Eight& a) { return __builtin_shufflevector(a, a, 4, 5, 6, 7); }

// A share's centre and half extent, moved by a slot's matrix.
BUNRAKU_INLINE Eight moved(const float* columns, const Eight& share) {
  const Eight x = __builtin_shufflevector(share, share, 0, 0, 0, 0, 4, 4, 4, 4);
  const Eight y = __builtin_shufflevector(share, share, 1, 1, 1, 1, 5, 5, 5, 5);
  const Eight z = __builtin_shufflevector(share, share, 2, 2, 2, 2, 6, 6, 6, 6);
  return bvh::load(columns + 24) +
         (bvh::load(columns) * x + bvh::load(columns + 8) * y + bvh::load(columns + 16) * z);
}

// By how much active morphs displace the boxes of a lane, and widen them.
inline Eight displacement(const RestView& view, const Pose& pose, const Lane& lane) {
  float low[3] = {}, high[3] = {}, most = 0;
  for (int i = 0; i < lane.morph_count; ++i) {
    const MorphBox& box = view.morph_boxes[lane.morphs + i];
    const float weight = pose.morph_weights[box.target];
    if (weight == 0) continue;
    for (int k = 0; k < 3; ++k) {
      const float one = weight * box.low[k], other = weight * box.high[k];
      low[k] += one < other ? one : other;
      high[k] += one < other ? other : one;
      const float size = other - one;
      most += size < 0 ? -size : size;
    }
  }
  Eight shift{};
  for (int k = 0; k < 3; ++k) {
    shift[k] = (low[k] + high[k]) / 2;
    shift[4 + k] = (high[k] - low[k]) / 2 + 1e-5f * most;
  }
  return shift;
}

// A dual-quaternion blend of a lane's joints: α lies within [least · w, most · w].
struct Blend {
  float least, most;
  float pad;          // what the blend adds to Σ α p
};

// Where a slot takes a point, and how far a symmetric matrix S (xx, yy, zz, xy, xz, yz) may
// stretch a vector: by its largest sum of a row.
BUNRAKU_INLINE Quad moved_point(const float* columns, const Quad& p) {
  const auto column = [&](int c) { return *reinterpret_cast<const Quad*>(columns + 8 * c); };
  return column(3) + (column(0) * p[0] + column(1) * p[1] + column(2) * p[2]);
}

BUNRAKU_INLINE float largest_stretch(const float* s) {
  const auto size = [&](int i) { return bvh::magnitude(s[i]); };
  const float x = size(0) + size(3) + size(4), y = size(1) + size(3) + size(5), z = size(2) + size(4) + size(5);
  const float xy = x > y ? x : y;
  return xy > z ? xy : z;
}

// False where the lane cannot be bounded. The copies p_i, p_j of a vertex v are as far apart as
// those of the lane's centre c, and 2 sin φ of |S (v − c)| more.
inline bool dual_blend(const RestView& view, const Pose& pose, const Lane& lane, const Eight& shift, Blend& blend) {
  if (lane.count > kMostDuals) return false;
  const Quad centre = Quad{lane.centre[0], lane.centre[1], lane.centre[2], 0} + lower(shift);
  const Quad wider = upper(shift);
  const float radius = lane.radius + wider[0] + wider[1] + wider[2];
  Quad q[kMostDuals], low{}, high{};
  const float* first = nullptr;
  float size = 0;
  for (int i = 0; i < lane.count; ++i) {
    const std::int32_t slot = view.slots[lane.first + i];
    const float* rows = pose.packed + skinning::kLanes + slot * skinning::kNarrowRows;
    const Quad place = moved_point(pose.columns + 32 * slot, centre);
    if (i == 0) {
      first = rows, low = high = place;
      size = largest_stretch(rows + skinning::kStretchRow);
    }
    low = place < low ? place : low;
    high = place > high ? place : high;
    float apart = 0;
    for (int r = skinning::kStretchRow; r < skinning::kStretchRow + 6; ++r) {
      const float off = bvh::magnitude(first[r] - rows[r]);
      apart = off > apart ? off : apart;
    }
    if (!(apart <= kUnlike * size)) return false;
    q[i] = *reinterpret_cast<const Quad*>(rows);
    const Quad product = q[0] * q[i];
    if (product[0] + product[1] + product[2] + product[3] < 0) q[i] = -q[i];
  }
  float cosine = 1;
  for (int i = 1; i < lane.count; ++i) {
    for (int j = 0; j < i; ++j) {
      const Quad product = q[i] * q[j];
      const float dot = product[0] + product[1] + product[2] + product[3];
      cosine = dot < cosine ? dot : cosine;
    }
  }
  cosine -= 1e-6f;
  if (!(cosine > kLeastCosine)) return false;
  // Σ_{i<j} w_i w_j = (1 − Σ w²) / 2 is largest for equal weights, or where the heaviest joint
  // has the least that it has anywhere and the others share the rest.
  int joints = lane.count < view.most_influences ? lane.count : view.most_influences;
  joints = joints < 2 ? 2 : joints;
  const float others = static_cast<float>(joints - 1);
  float heavy = view.shares[lane.first].weight - view.shares[lane.first].spread;
  heavy = heavy > 1 / (others + 1) ? heavy : 1 / (others + 1);
  const float pairs = (1 - heavy * heavy - (1 - heavy) * (1 - heavy) / others) / 2 + 1e-6f;
  const float norm = 1 - 2 * pairs * (1 - cosine);
  const float sine = __builtin_sqrtf(1 - cosine * cosine);
  const Quad side = high - low;
  const float apart = __builtin_sqrtf(side[0] * side[0] + side[1] * side[1] + side[2] * side[2]);
  const float distance = apart + 2 * sine * size * radius + pose.slack;
  blend = {cosine, 1 / norm, distance * sine * pairs / norm * 1.0001f};
  return true;
}

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
  float pad = 0;
  if (lane.count > 1) {
    Blend blend{1, 1, 0};
    if (kMethod == Method::dqs && !dual_blend(view, pose, lane, shift, blend)) {
      return {Quad{} - kInfinity, Quad{} + kInfinity};
    }
    const auto weights = [&](int i, float& middle, float& most) {
      middle = shares[i].weight, most = middle + shares[i].spread;
      if (kMethod == Method::dqs) {
        most *= blend.most;
        middle = (most + (shares[i].weight - shares[i].spread) * blend.least) / 2;
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
    if constexpr (kMethod == Method::dqs) {
      pad = blend.pad + pose.slack * blend.most;
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
  }
  if constexpr (kMethod == Method::dqs) {
    box.low -= pad + pose.slack;
    box.high += pad + pose.slack;
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
