#pragma once
// Batches over threads. A batch is cut into ranges; the rays of each walk in groups or by turns,
// as they have much or little to do with their neighbours. Answers depend on neither.

#include <cstdint>
#include <mutex>
#include <vector>

#include "bvh/bvh.hpp"

namespace bunraku::bvh {

void run_closest(const TreeView& tree, const ClosestJob& job, std::int64_t count, bool by_force);
void run_any(const TreeView& tree, const AnyJob& job, std::int64_t count);
void run_count(const TreeView& tree, const CountJob& job, std::int64_t count);
void run_nearest(const TreeView& tree, const NearestJob& job, std::int64_t count);

void run_scene(const SceneView& scene, const SceneJob& job, std::int64_t count);

// Hits of ray r: those from first[r] to first[r + 1], by t, then by instance, then by primitive.
struct AllHits {
  std::vector<std::int64_t> first;
  std::vector<float> t, u, v;
  std::vector<std::int32_t> primitive, instance;
};

AllHits run_all(const TreeView& tree, const Rays& rays, std::int64_t count);
AllHits run_all_in_scene(const SceneView& scene, const Rays& rays, std::int64_t count);

struct Found {
  std::int64_t ray;
  Single hit;
  std::int32_t instance;
};

AllJob found_in(std::vector<Found>& part, const Rays& rays);

// What threads find in their ranges of a batch, put in order at the end.
class Gathering {
 public:
  void add(std::vector<Found> part);
  AllHits ordered(std::int64_t rays);

 private:
  std::mutex mutex_;
  std::vector<std::vector<Found>> parts_;
};

Single cast_one(const TreeView& tree, const float* origin, const float* direction, float t_min, float t_max);

}  // namespace bunraku::bvh
