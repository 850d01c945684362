#pragma once
// A ray, prepared for one tree, and its test against the eight boxes of a node.
//
// Depths. With k the axis where the direction is longest, s = t * |d[k]| is the distance walked
// along that axis. Node tests compare s; hits are reported in t.
//
// Margins. What a primitive test accepts in float32 must never be lost to a node test. A triangle
// (packet.hpp) only counts where the ray meets the triangle's own box, widened on every side by
// 16 rounding steps of R, the largest |vertex - origin|; its depth is held inside that interval.
// Node boxes contain those boxes and are widened by 32 steps of a larger R (8 cover the
// rounding of this file's arithmetic, 2 that of the boxes relative to the centre), so a node is
// entered, and no later, wherever one of its primitives is hit. Hence the tree answers as brute
// force does, to the bit, whatever its shape.

#include "bvh/lanes.hpp"
#include "bvh/node.hpp"

namespace bunraku::BUNRAKU_LEVEL::bvh {

using namespace bunraku::bvh;

inline constexpr float kStep = 0x1p-24f;              // half a unit in the last place of 1
inline constexpr float kPrimitiveMargin = 16 * kStep;
inline constexpr float kNodeMargin = 32 * kStep;
inline constexpr float kSteepest = 0x1p40f;           // cap on 1 / slope: 0, -0 and denormals are finite
inline constexpr float kDepthSlack = 4 * kStep;       // between t of a hit and s of a box
inline constexpr float kInfinity = __builtin_inff();

struct Ray {
  alignas(16) float origin[4];  // fourth numbers are idle: all of these are written as one vector
  float direction[4];
  float inverse[4];             // |d[z]| / d per axis, capped
  float near_shift[4], far_shift[4];
  int near_side[4];             // 0 or 1: which plane of the axis is met first
  int x, y, z;                  // axes after the turn that makes z the longest
  float shear_x, shear_y;       // direction[x] / direction[z], direction[y] / direction[z]
  float scale;                  // |d[z]|
  float t_min, t_max;           // t_max shrinks to the closest hit
  float s_min, s_max;           // the same for boxes, a little wider
  std::int32_t skip;            // primitive that does not exist for this ray, or -1
  bool front_only;              // triangles seen from behind do not exist

  void set_far(float t) {
    t_max = t;
    s_max = t * scale;
    s_max += magnitude(s_max) * kDepthSlack;
  }
};

// False for a ray that meets nothing: a zero direction, numbers that are not finite or too large.
// `widen` multiplies the margin.
BUNRAKU_INLINE bool prepare(Ray& ray, const TreeView& tree, const float* origin, const float* direction,
                            float t_min, float t_max, float widen = 1) {
  typedef float Quad __attribute__((vector_size(16)));
  typedef std::int32_t QuadMask __attribute__((vector_size(16)));
  const Quad o{origin[0], origin[1], origin[2], 0}, d{direction[0], direction[1], direction[2], 0};
  const Quad finite = (o - o) + (d - d);
  const Quad size = reinterpret_cast<Quad>(reinterpret_cast<QuadMask>(d) & INT32_MAX);
  const float sizes[3] = {size[0], size[1], size[2]};
  int z = sizes[1] > sizes[0];
  z = sizes[2] > sizes[z] ? 2 : z;
  ray.scale = sizes[z];
  if (!(finite[0] + finite[1] + finite[2] == 0) || !(ray.scale > 0) || !(t_min <= t_max)) return false;
  const float longest = direction[z];
  const bool back = longest < 0;  // the turn keeps the winding
  constexpr std::int8_t kTurned[2][3][2] = {{{1, 2}, {2, 0}, {0, 1}}, {{2, 1}, {0, 2}, {1, 0}}};
  ray.x = kTurned[back][z][0];
  ray.y = kTurned[back][z][1];
  ray.z = z;
  const Quad slopes = d / longest;
  // Steeper than the cap the sign is all that matters; zeros and denormals end up here.
  Quad inverse = ray.scale / d;
  const Quad capped = reinterpret_cast<Quad>((reinterpret_cast<QuadMask>(d) & INT32_MIN) |
                                             reinterpret_cast<QuadMask>(Quad{} + kSteepest));
  inverse = size * kSteepest > ray.scale ? inverse : capped;
  const Quad local = o - Quad{tree.centre[0], tree.centre[1], tree.centre[2], 0};
  float far = magnitude(local[0]) > magnitude(local[1]) ? magnitude(local[0]) : magnitude(local[1]);
  far = magnitude(local[2]) > far ? magnitude(local[2]) : far;
  if (!(far <= 2 * kLargest)) return false;
  const Quad shift = local * inverse;
  const Quad margin = reinterpret_cast<Quad>(reinterpret_cast<QuadMask>(inverse) & INT32_MAX) *
                      (kNodeMargin * widen * (far + tree.reach));
  const Quad near_shift = -shift - margin, far_shift = margin - shift;
  alignas(16) float slope[4];
  const auto write = [](float* to, const Quad& from) { *reinterpret_cast<Quad*>(to) = from; };
  write(ray.origin, o);
  write(ray.direction, d);
  write(ray.inverse, inverse);
  write(ray.near_shift, near_shift);
  write(ray.far_shift, far_shift);
  write(slope, slopes);
  *reinterpret_cast<QuadMask*>(ray.near_side) = (inverse < 0) & 1;
  ray.shear_x = slope[ray.x];
  ray.shear_y = slope[ray.y];
  ray.t_min = t_min;
  ray.s_min = t_min * ray.scale;
  ray.s_min -= magnitude(ray.s_min) * kDepthSlack;
  ray.set_far(t_max);
  return true;
}

// The ray's constants as vectors, kept in registers over a walk.
struct Slabs {
  Eight inverse[3], near_shift[3], far_shift[3], s_min;

  Slabs() = default;
  BUNRAKU_INLINE explicit Slabs(const Ray& ray) {
    for (int a = 0; a < 3; ++a) {
      inverse[a] = splat(ray.inverse[a]);
      near_shift[a] = splat(ray.near_shift[a]);
      far_shift[a] = splat(ray.far_shift[a]);
    }
    s_min = splat(ray.s_min);
  }
};

// The boxes that the ray may meet, and the depths at which it enters them. `plane` as in Node.
BUNRAKU_INLINE Mask meet(const float (&plane)[3][2][kWidth], const Ray& ray, const Slabs& slabs,
                             Eight& near) {
  const auto depth = [&](int axis, int side, const Eight& shift) {
    return about_multiply_add(load(plane[axis][side]), slabs.inverse[axis], shift);
  };
  const int* const side = ray.near_side;
  near = max(max(depth(0, side[0], slabs.near_shift[0]), depth(1, side[1], slabs.near_shift[1])),
             max(depth(2, side[2], slabs.near_shift[2]), slabs.s_min));
  const Eight far =
      min(min(depth(0, side[0] ^ 1, slabs.far_shift[0]), depth(1, side[1] ^ 1, slabs.far_shift[1])),
          min(depth(2, side[2] ^ 1, slabs.far_shift[2]), splat(ray.s_max)));
  return near <= far;
}

}  // namespace bunraku::BUNRAKU_LEVEL::bvh
