#include "posed/prepare.hpp"

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "threads.hpp"

namespace bunraku::posed {
namespace {

constexpr std::int64_t kGrain = 8;  // rays that are worth another thread

const PosedKernels& kernels() {
  static const PosedKernels& chosen = posed_kernels_at(active_level());
  return chosen;
}

// Calls run(scratch, begin, end) for ranges of rays.
template <typename Run>
void over_rays(const RestView& view, const Pose& pose, std::int64_t count, Run run) {
  const auto floats = static_cast<std::size_t>(pose.morph_weights != nullptr ? 4 * view.most_morphs : 0);
  parallel_for(count, kGrain, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> morphs(floats);
    run(Scratch{morphs.data()}, begin, end);
  });
}

struct Found {
  std::int64_t ray;
  float t, u, v;
  std::int32_t primitive;
};

}  // namespace

Posed::Posed(const RestTree& tree, const float* palette, Method method, const float* morph_weights) : tree_(tree) {
  const RestView& view = tree.view();
  const auto columns = static_cast<std::size_t>(view.joints + 1) * 32;
  const auto packed = static_cast<std::size_t>(kernels().packed_floats(view, method));
  floats_.reset(static_cast<float*>(::operator new((columns + packed) * sizeof(float), std::align_val_t{64})));
  pose_.method = method;
  pose_.palette = palette;
  const bool morphs = morph_weights != nullptr && view.morph_first != nullptr &&
                      std::any_of(morph_weights, morph_weights + tree.targets(), [](float w) { return w != 0; });
  pose_.morph_weights = morphs ? morph_weights : nullptr;
  pose_.extent = morphs ? tree.extent(morph_weights) : view.extent;
  pose_.columns = floats_.get();
  pose_.packed = floats_.get() + columns;
  kernels().prepare(view, pose_);
}

void Posed::closest(const bvh::ClosestJob& job, std::int64_t count) const {
  over_rays(tree_.view(), pose_, count, [&](Scratch scratch, std::int64_t begin, std::int64_t end) {
    kernels().closest(tree_.view(), pose_, job, scratch, begin, end);
  });
}

void Posed::any(const bvh::AnyJob& job, std::int64_t count) const {
  over_rays(tree_.view(), pose_, count, [&](Scratch scratch, std::int64_t begin, std::int64_t end) {
    kernels().any(tree_.view(), pose_, job, scratch, begin, end);
  });
}

bvh::AllHits Posed::all(const bvh::Rays& rays, std::int64_t count) const {
  std::mutex mutex;
  std::vector<Found> found;
  over_rays(tree_.view(), pose_, count, [&](Scratch scratch, std::int64_t begin, std::int64_t end) {
    std::vector<Found> part;
    const bvh::AllJob job{rays, &part,
                          [](void* to, std::int64_t ray, float t, std::int32_t primitive, float u, float v) {
                            static_cast<std::vector<Found>*>(to)->push_back({ray, t, u, v, primitive});
                          }};
    kernels().all(tree_.view(), pose_, job, scratch, begin, end);
    const std::lock_guard lock(mutex);
    found.insert(found.end(), part.begin(), part.end());
  });
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    if (a.ray != b.ray) return a.ray < b.ray;
    return a.t < b.t || (a.t == b.t && a.primitive < b.primitive);
  });
  bvh::AllHits hits;
  hits.first.assign(static_cast<std::size_t>(count) + 1, 0);
  for (const Found& hit : found) {
    ++hits.first[static_cast<std::size_t>(hit.ray) + 1];
    hits.t.push_back(hit.t);
    hits.primitive.push_back(hit.primitive);
    hits.u.push_back(hit.u);
    hits.v.push_back(hit.v);
  }
  for (std::size_t r = 1; r < hits.first.size(); ++r) hits.first[r] += hits.first[r - 1];
  return hits;
}

bvh::Single Posed::one(const float* origin, const float* direction, float t_min, float t_max) const {
  const RestView& view = tree_.view();
  std::vector<float> morphs(static_cast<std::size_t>(pose_.morph_weights != nullptr ? 4 * view.most_morphs : 0));
  return kernels().one(view, pose_, Scratch{morphs.data()}, origin, direction, t_min, t_max);
}

Survey Posed::survey() const { return kernels().survey(tree_.view(), pose_); }

}  // namespace bunraku::posed
