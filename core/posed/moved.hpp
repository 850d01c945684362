#pragma once
// Boxes and points, moved by the matrices of a pose.

#include "bvh/lanes.hpp"
#include "bvh/ray.hpp"
#include "posed/posed.hpp"

namespace bunraku::BUNRAKU_LEVEL::posed {

using namespace bunraku::posed;
using bvh::Eight;
using bvh::Quad;

inline constexpr float kInfinity = __builtin_inff();
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

// Where a slot takes a point.
BUNRAKU_INLINE Quad moved_point(const float* columns, const Quad& p) {
  const auto column = [&](int c) { return *reinterpret_cast<const Quad*>(columns + 8 * c); };
  return column(3) + (column(0) * p[0] + column(1) * p[1] + column(2) * p[2]);
}

}  // namespace bunraku::BUNRAKU_LEVEL::posed
