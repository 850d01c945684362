#include "bvh/batch.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "threads.hpp"

namespace bunraku::bvh {
namespace {

constexpr std::int64_t kGrain = 32;  // rays that are worth another thread

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

bool before(const Found& a, const Found& b) {
  if (a.ray != b.ray) return a.ray < b.ray;
  if (a.hit.t != b.hit.t) return a.hit.t < b.hit.t;
  return a.instance < b.instance || (a.instance == b.instance && a.hit.primitive < b.hit.primitive);
}

// run(job, begin, end) for ranges of the batch.
template <typename Run>
AllHits gathered(const Rays& rays, std::int64_t count, Run run) {
  Gathering gathering;
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<Found> part;
    run(found_in(part, rays), begin, end);
    gathering.add(std::move(part));
  });
  return gathering.ordered(count);
}

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
  return gathered(rays, count, [&](const AllJob& job, std::int64_t begin, std::int64_t end) { kernels().all(tree, job, begin, end); });
}

AllHits run_all_in_scene(const SceneView& scene, const Rays& rays, std::int64_t count) {
  return gathered(rays, count, [&](const AllJob& job, std::int64_t begin, std::int64_t end) {
    kernels().all_in_scene(scene, job, begin, end);
  });
}

AllJob found_in(std::vector<Found>& part, const Rays& rays) {
  return {rays, &part, [](void* to, std::int64_t ray, const Single& hit, std::int32_t instance) {
            static_cast<std::vector<Found>*>(to)->push_back({ray, hit, instance});
          }};
}

void Gathering::add(std::vector<Found> part) {
  if (part.empty()) return;
  std::sort(part.begin(), part.end(), before);
  const std::lock_guard lock(mutex_);
  parts_.push_back(std::move(part));
}

AllHits Gathering::ordered(std::int64_t rays) {
  std::sort(parts_.begin(), parts_.end(), [](const auto& a, const auto& b) { return a.front().ray < b.front().ray; });
  AllHits hits;
  hits.first.assign(static_cast<std::size_t>(rays) + 1, 0);
  for (const std::vector<Found>& part : parts_) {
    for (const Found& found : part) {
      ++hits.first[static_cast<std::size_t>(found.ray) + 1];
      hits.t.push_back(found.hit.t);
      hits.u.push_back(found.hit.u);
      hits.v.push_back(found.hit.v);
      hits.primitive.push_back(found.hit.primitive);
      hits.instance.push_back(found.instance);
    }
  }
  for (std::size_t r = 1; r < hits.first.size(); ++r) hits.first[r] += hits.first[r - 1];
  return hits;
}

Single cast_one(const TreeView& tree, const float* origin, const float* direction, float t_min, float t_max) {
  return kernels().one(tree, origin, direction, t_min, t_max);
}

}  // namespace bunraku::bvh
