#include "sdef/prepare.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <stdexcept>

#include "threads.hpp"

namespace bunraku {
namespace {

// Frames whose joints are prepared at a time, and vertices that a thread takes at a time.
constexpr std::int64_t kFrames = 64, kVertices = 512;

struct Free {
  void operator()(double* numbers) const { ::operator delete(numbers, std::align_val_t{64}); }
};

}  // namespace

std::int32_t SdefVertices::used(std::int32_t slot) {
  if (slot < 0) throw std::invalid_argument("joints: expected slots from 0");
  const auto at = static_cast<std::size_t>(slot);
  if (at >= number_.size()) number_.resize(at + 1, -1);
  if (number_[at] < 0) {
    number_[at] = static_cast<std::int32_t>(joints.size());
    joints.push_back(slot);
    palette_joints = std::max<std::int64_t>(palette_joints, slot + std::int64_t{1});
  }
  return number_[at];
}

void SdefVertices::add_spherical(std::int32_t index, std::span<const std::int32_t> slots, std::span<const float> weights,
                                 const float* center, const float* first, const float* second) {
  const double w0 = static_cast<double>(weights[0]), w1 = static_cast<double>(weights[1]);
  SphericalVertex vertex{{used(slots[0]), used(slots[1])}, w1 / (w0 + w1), {}, {}, {}};
  for (int i = 0; i < 3; ++i) {
    const double c = static_cast<double>(center[i]), r0 = static_cast<double>(first[i]);
    const double r1 = static_cast<double>(second[i]), mean = (1 - vertex.share) * r0 + vertex.share * r1;
    vertex.center[i] = c;
    vertex.first[i] = c + (r0 - mean) / 2;
    vertex.second[i] = c + (r1 - mean) / 2;
  }
  indices.push_back(index);
  spherical.push_back(vertex);
}

void SdefVertices::add_dual(std::int32_t index, std::span<const std::int32_t> slots, std::span<const float> weights) {
  double sum = 0;
  for (const float weight : weights) sum += static_cast<double>(weight);
  for (std::size_t k = 0; k < slots.size(); ++k) {
    if (weights[k] > 0) influences.push_back({used(slots[k]), static_cast<double>(weights[k]) / sum});
  }
  indices.push_back(index);
  dual_starts.push_back(static_cast<std::int32_t>(influences.size()));
}

SdefView SdefVertices::view() const {
  return {static_cast<std::int64_t>(spherical.size()),
          static_cast<std::int64_t>(dual_starts.size()) - 1,
          static_cast<std::int64_t>(joints.size()),
          indices.data(),
          joints.data(),
          spherical.data(),
          dual_starts.data(),
          influences.data()};
}

void bend(SdefJob job, Level level) {
  const SdefKernels& kernels = sdef_kernels_at(level);
  const std::int64_t frames = job.frames, count = job.vertices.spherical_count + job.vertices.dual_count;
  if (frames == 0 || count == 0) return;
  job.frames = std::min(frames, kFrames);
  const std::int64_t numbers = kernels.batches(job) * kernels.batch_numbers(job);
  const std::unique_ptr<double, Free> packed(static_cast<double*>(
      ::operator new(static_cast<std::size_t>(numbers) * sizeof(double), std::align_val_t{64})));
  const std::int64_t blocks = (count + kVertices - 1) / kVertices;
  for (std::int64_t first = 0; first < frames; first += kFrames) {
    SdefJob part = job;
    part.frames = std::min(kFrames, frames - first);
    part.packed = packed.get();
    part.palette += first * job.palette_joints * 12;
    for (RestRows* rows : {&part.positions, &part.normals, &part.tangents}) {
      if (rows->data != nullptr) rows->data += first * rows->frame_stride;
    }
    for (BentRows* rows : {&part.out_positions, &part.out_normals, &part.out_tangents}) {
      if (rows->data != nullptr) rows->data += first * rows->frame_stride;
    }
    const std::int64_t batches = kernels.batches(part);
    parallel_for(batches, 4, [&](std::int64_t begin, std::int64_t end) { kernels.pack(part, begin, end); });
    parallel_for(batches * blocks, 2, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t task = begin; task < end; ++task) {
        const std::int64_t start = task % blocks * kVertices;
        kernels.bend(part, task / blocks, start, std::min(start + kVertices, count));
      }
    });
  }
}

}  // namespace bunraku
