// Linear-blend and dual-quaternion skinning, compiled once per instruction set.

#include "skinning/narrow.hpp"
#include "skinning/wide.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {
namespace {

// A task is a tile of vertices in one batch of frames. Its influences stay in the second-level
// cache while the batches that follow one another read them again.
constexpr std::int64_t kTile = 32 * kBlockVertices;

template <Method kMethod, bool kOriented>
void deform_tasks(const DeformJob& job, std::int64_t begin, std::int64_t end) {
  const std::int64_t per_tile = batches(job).count();
  for (std::int64_t task = begin; task < end; ++task) {
    const std::int64_t from = task / per_tile * kTile;
    const std::int64_t to = from + kTile < job.vertices ? from + kTile : job.vertices;
    const Batch in = batch(job, task % per_tile);
    for (std::int64_t first = from; first < to; first += kBlockVertices) {
      const std::int64_t count = to - first < kBlockVertices ? to - first : kBlockVertices;
      const Block block{first, count, first / kBlockVertices};
      if constexpr (kMethod == Method::lbs && !kOriented) {
        bend_points(job, in, block);
      } else if (in.wide) {
        bend_wide<kMethod, kOriented>(job, in, block);
      } else {
        bend_narrow<kMethod, kOriented>(job, in, block);
      }
    }
  }
}

template <bool kOriented>
void deform_by_method(const DeformJob& job, std::int64_t begin, std::int64_t end) {
  switch (job.method) {
    case Method::lbs: return deform_tasks<Method::lbs, kOriented>(job, begin, end);
    case Method::dqs: return deform_tasks<Method::dqs, kOriented>(job, begin, end);
    case Method::mixed: return deform_tasks<Method::mixed, kOriented>(job, begin, end);
  }
}

void deform(const DeformJob& job, std::int64_t begin, std::int64_t end) {
  const bool oriented = job.normals != nullptr || job.tangents != nullptr;
  return oriented ? deform_by_method<true>(job, begin, end) : deform_by_method<false>(job, begin, end);
}

void pack(const DeformJob& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t index = begin; index < end; ++index) pack_batch(job, batch(job, index));
}

std::int64_t packed_floats(const DeformJob& job) {
  const Batches all = batches(job);
  return all.wide * batch_floats(job, true) + all.narrow * batch_floats(job, false);
}

std::int64_t batch_count(const DeformJob& job) { return batches(job).count(); }

std::int64_t task_count(const DeformJob& job) {
  return (job.vertices + kTile - 1) / kTile * batches(job).count();
}

std::int64_t task_size(const DeformJob& job) { return kTile * (batches(job).wide > 0 ? batch_frames(job) : 1); }

constexpr SkinningKernels kKernels = {packed_floats, batch_count, pack,
                                      task_count,    task_size,   deform};

}  // namespace
}  // namespace bunraku::BUNRAKU_LEVEL::skinning

namespace bunraku::BUNRAKU_LEVEL {
extern const SkinningKernels skinning_kernels = skinning::kKernels;
}
