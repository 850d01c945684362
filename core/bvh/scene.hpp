#pragma once
// Trees placed in the world: the ray is taken into each instance's own space, where t is the same.

#include "bvh/traverse.hpp"

namespace bunraku::BUNRAKU_LEVEL::bvh {

struct PlacedHit {
  Hit hit;
  std::int32_t instance;
};

// In double, rounded once, so that an instance far away loses nothing on the way.
BUNRAKU_INLINE void into_instance(const double* inverse, const float* from, double one, float* to) {
  for (int r = 0; r < 3; ++r) {
    const double* row = inverse + 4 * r;
    to[r] = static_cast<float>(row[0] * from[0] + row[1] * from[1] + row[2] * from[2] + row[3] * one);
  }
}

// Calls keep(Hit, instance) for hits of the ray, each after shrinking the range; ends when it
// returns true. Walks the instances whose boxes the ray meets, near ones first.
template <typename Keep>
BUNRAKU_INLINE void walk_scene(const SceneView& scene, Ray& ray, Keep keep) {
  Counts counts;
  walk<false>(scene.top, ray, counts, [&](std::int32_t index) {
    const Packet& packet = scene.top.packets[index];
    for (int i = 0; i < kWidth; ++i) {
      const std::int32_t instance = packet.primitive[i];
      if (instance < 0) break;
      const double* inverse = scene.inverses + 12 * std::int64_t{instance};
      const TreeView& tree = *scene.trees[instance];
      float origin[3], direction[3];
      into_instance(inverse, ray.origin, 1, origin);
      into_instance(inverse, ray.direction, 0, direction);
      Ray inner;
      inner.skip = kEmpty;
      inner.front_only = ray.front_only;
      if (!prepare(inner, tree, origin, direction, ray.t_min, ray.t_max)) continue;
      bool done = false;
      const auto visit = [&](std::int32_t inner_packet) {
        const auto take = [&](const Hit& hit) {
          done = keep(hit, instance) || done;
          inner.set_far(ray.t_max);
        };
        switch (tree.kind) {
          case Kind::triangles: visit_hits<Kind::triangles, false>(tree, inner_packet, inner, take); break;
          case Kind::boxes: visit_hits<Kind::boxes, false>(tree, inner_packet, inner, take); break;
          case Kind::spheres: visit_hits<Kind::spheres, false>(tree, inner_packet, inner, take); break;
        }
        return done;
      };
      walk<false>(tree, inner, counts, visit);
      if (done) return true;
    }
    return false;
  });
}

// Normals go with the transposed inverse, and so keep their side under mirrors.
inline void normal_to_world(const double* inverse, float* normal) {
  double n[3], square = 0;
  for (int c = 0; c < 3; ++c) {
    n[c] = inverse[c] * normal[0] + inverse[4 + c] * normal[1] + inverse[8 + c] * normal[2];
    square += n[c] * n[c];
  }
  for (int c = 0; c < 3; ++c) normal[c] = square > 0 ? static_cast<float>(n[c] / __builtin_sqrt(square)) : 0.0f;
}

}  // namespace bunraku::BUNRAKU_LEVEL::bvh
