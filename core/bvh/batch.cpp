#include "bvh/batch.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "threads.hpp"

namespace bunraku::bvh {
namespace {

constexpr std::int64_t kGrain = 128;  // rays that are worth another thread

const BvhKernels& kernels() {
  static const BvhKernels& chosen = bvh_kernels_at(active_level());
  return chosen;
}

// Whether rays that follow one another mostly run close together, judged from a sample.
bool coherent(const TreeView& tree, const Rays& rays, std::int64_t begin, std::int64_t end) {
  constexpr int kSamples = 64;
  const std::int64_t step = std::max<std::int64_t>((end - begin) / kSamples, 1);
  int close = 0, seen = 0;
  for (std::int64_t i = begin; i + 1 < end; i += step, ++seen) {
    const float *o = rays.origins + 3 * i, *d = rays.directions + 3 * i;
    float along = 0, first = 0, second = 0, apart = 0;
    for (int k = 0; k < 3; ++k) {
      along += d[k] * d[k + 3];
      first += d[k] * d[k];
      second += d[k + 3] * d[k + 3];
      apart = std::max(apart, std::fabs(o[k] - o[k + 3]));
    }
    close += along > 0.98f * std::sqrt(first) * std::sqrt(second) && apart < 0.05f * tree.reach;
  }
  return 2 * close > seen;
}

// In a tree that the caches next to the core hold there is little to wait for: groups win even then, for
// closest and any hits taken together, up to 600 packets; from 900 on they lose.
constexpr std::int64_t kCachedPackets = 768;

template <typename Job, typename Run>
void run_rays(const TreeView& tree, Job job, std::int64_t count, Run run) {
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    Job part = job;
    part.rays.coherent = tree.packet_count <= kCachedPackets || coherent(tree, job.rays, begin, end);
    run(tree, part, begin, end);
  });
}

struct Found {
  std::int64_t ray;
  float t, u, v;
  std::int32_t primitive;
};

}  // namespace

void run_closest(const TreeView& tree, const ClosestJob& job, std::int64_t count, bool by_force) {
  run_rays(tree, job, count, by_force ? kernels().closest_by_force : kernels().closest);
}

void run_any(const TreeView& tree, const AnyJob& job, std::int64_t count) { run_rays(tree, job, count, kernels().any); }

void run_count(const TreeView& tree, const CountJob& job, std::int64_t count) {
  run_rays(tree, job, count, kernels().count);
}

void run_nearest(const TreeView& tree, const NearestJob& job, std::int64_t count) {
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) { kernels().nearest(tree, job, begin, end); });
}

void run_scene(const SceneView& scene, const SceneJob& job, std::int64_t count) {
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) { kernels().in_scene(scene, job, begin, end); });
}

AllHits run_all(const TreeView& tree, const Rays& rays, std::int64_t count) {
  std::mutex mutex;
  std::vector<std::vector<Found>> parts;
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Found> part;
    const AllJob job{rays, &part, [](void* context, std::int64_t ray, float t, std::int32_t primitive, float u, float v) {
                       static_cast<std::vector<Found>*>(context)->push_back({ray, t, u, v, primitive});
                     }};
    kernels().all(tree, job, begin, end);
    std::sort(part.begin(), part.end(), [](const Found& a, const Found& b) {
      if (a.ray != b.ray) return a.ray < b.ray;
      return a.t < b.t || (a.t == b.t && a.primitive < b.primitive);
    });
    if (part.empty()) return;
    const std::lock_guard lock(mutex);
    parts.push_back(std::move(part));
  });
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.front().ray < b.front().ray; });
  AllHits hits;
  hits.first.reserve(static_cast<std::size_t>(count) + 1);
  for (const std::vector<Found>& part : parts) {
    for (const Found& hit : part) {
      while (static_cast<std::int64_t>(hits.first.size()) <= hit.ray) {
        hits.first.push_back(static_cast<std::int64_t>(hits.t.size()));
      }
      hits.t.push_back(hit.t);
      hits.primitive.push_back(hit.primitive);
      hits.u.push_back(hit.u);
      hits.v.push_back(hit.v);
    }
  }
  hits.first.resize(static_cast<std::size_t>(count) + 1, static_cast<std::int64_t>(hits.t.size()));
  return hits;
}

Single cast_one(const TreeView& tree, const float* origin, const float* direction, float t_min, float t_max) {
  return kernels().one(tree, origin, direction, t_min, t_max);
}

}  // namespace bunraku::bvh
