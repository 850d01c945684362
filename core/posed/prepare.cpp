#include "posed/prepare.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "threads.hpp"

namespace bunraku::posed {
namespace {

constexpr std::int64_t kGrain = 2;  // rays that are worth another thread

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
  bvh::Gathering gathering;
  over_rays(tree_.view(), pose_, count, [&](Scratch scratch, std::int64_t begin, std::int64_t end) {
    std::vector<bvh::Found> part;
    kernels().all(tree_.view(), pose_, bvh::found_in(part, rays), scratch, begin, end);
    gathering.add(std::move(part));
  });
  return gathering.ordered(count);
}

bvh::Single Posed::one(const float* origin, const float* direction, float t_min, float t_max) const {
  const RestView& view = tree_.view();
  std::vector<float> morphs(static_cast<std::size_t>(pose_.morph_weights != nullptr ? 4 * view.most_morphs : 0));
  return kernels().one(view, pose_, Scratch{morphs.data()}, origin, direction, t_min, t_max);
}

Survey Posed::survey() const { return kernels().survey(tree_.view(), pose_); }

}  // namespace bunraku::posed
