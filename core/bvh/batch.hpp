#pragma once
// Batches over threads. A batch is cut into ranges; the rays of each walk in groups or by turns,
// as they have much or little to do with their neighbours. Answers depend on neither.

#include <cstdint>
#include <vector>

#include "bvh/bvh.hpp"

namespace bunraku::bvh {

void run_closest(const TreeView& tree, const ClosestJob& job, std::int64_t count, bool by_force);
void run_any(const TreeView& tree, const AnyJob& job, std::int64_t count);
void run_count(const TreeView& tree, const CountJob& job, std::int64_t count);
void run_nearest(const TreeView& tree, const NearestJob& job, std::int64_t count);

void run_scene(const SceneView& scene, const SceneJob& job, std::int64_t count);

// Hits of ray r: those from first[r] to first[r + 1], by t, then by primitive.
struct AllHits {
  std::vector<std::int64_t> first;
  std::vector<float> t, u, v;
  std::vector<std::int32_t> primitive;
};

AllHits run_all(const TreeView& tree, const Rays& rays, std::int64_t count);

Single cast_one(const TreeView& tree, const float* origin, const float* direction, float t_min, float t_max);

}  // namespace bunraku::bvh
