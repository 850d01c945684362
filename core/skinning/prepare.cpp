#include "skinning/prepare.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "threads.hpp"

namespace bunraku {

Influences::Influences(std::span<const std::int32_t> all_joints, std::span<const float> all_weights,
                       std::int64_t vertices, std::int64_t width) {
  if (vertices > std::numeric_limits<std::int32_t>::max() / std::max<std::int64_t>(width, 1)) {
    throw std::invalid_argument("more influences than 32-bit indices can count");
  }
  first.reserve(static_cast<std::size_t>(vertices) + 1);
  heaviest.reserve(static_cast<std::size_t>(vertices));
  sum.reserve(static_cast<std::size_t>(vertices));
  slot.reserve(all_joints.size());
  weight.reserve(all_joints.size());
  first.push_back(0);
  std::vector<std::pair<std::int32_t, double>> row;
  for (std::int64_t v = 0; v < vertices; ++v) {
    row.clear();
    double total = 0;
    for (std::int64_t k = v * width; k < (v + 1) * width; ++k) {
      const auto at = static_cast<std::size_t>(k);
      if (all_joints[at] < 0) throw std::invalid_argument("joints must not be negative");
      if (!(all_weights[at] >= 0) || !std::isfinite(all_weights[at])) {
        throw std::invalid_argument("weights must be finite and not negative");
      }
      if (all_weights[at] > 0) row.emplace_back(all_joints[at], all_weights[at]);
      total += all_weights[at];
    }
    if (row.empty()) row.emplace_back(-1, total = 1);
    std::stable_sort(row.begin(), row.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t begin = slot.size();
    for (std::size_t i = 0; i < row.size();) {
      const std::int32_t joint = row[i].first;
      double share = 0;
      for (; i < row.size() && row[i].first == joint; ++i) share += row[i].second;
      slot.push_back(joint + 1);
      weight.push_back(static_cast<float>(share / total));
    }
    sum.push_back(std::accumulate(weight.begin() + static_cast<std::ptrdiff_t>(begin), weight.end(), 0.0f));
    joints = std::max<std::int64_t>(joints, slot.back());
    const auto top = std::max_element(weight.begin() + static_cast<std::ptrdiff_t>(begin), weight.end());
    heaviest.push_back(slot[static_cast<std::size_t>(top - weight.begin())]);
    first.push_back(static_cast<std::int32_t>(slot.size()));
  }
}

ActiveMorphs::ActiveMorphs(std::span<const MorphDeltas> targets, std::int64_t vertices)
    : active(static_cast<std::int64_t>(targets.size())),
      first(static_cast<std::size_t>(vertices) + 1, 0) {
  std::size_t total = 0;
  bool any_positions = false, any_normals = false, any_tangents = false;
  for (const MorphDeltas& target : targets) {
    total += target.vertices.size();
    any_positions |= target.positions != nullptr;
    any_normals |= target.normals != nullptr;
    any_tangents |= target.tangents != nullptr;
    for (const std::int32_t v : target.vertices) {
      if (v < 0 || v >= vertices) throw std::invalid_argument("morph vertex out of range");
      ++first[static_cast<std::size_t>(v) + 1];
    }
  }
  if (total > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw std::invalid_argument("more morph entries than 32-bit indices can count");
  }
  for (std::size_t v = 1; v < first.size(); ++v) first[v] += first[v - 1];

  weight.resize(total);
  if (any_positions) positions.resize(3 * total);
  if (any_normals) normals.resize(3 * total);
  if (any_tangents) tangents.resize(3 * total);
  std::vector<std::int32_t> next(first.begin(), first.end() - 1);
  const auto copy = [](const float* from, std::size_t i, std::vector<float>& to, std::size_t at) {
    if (from != nullptr) std::copy_n(from + 3 * i, 3, to.data() + 3 * at);
  };
  for (std::size_t t = 0; t < targets.size(); ++t) {
    for (std::size_t i = 0; i < targets[t].vertices.size(); ++i) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(targets[t].vertices[i])]++);
      weight[at] = static_cast<std::int32_t>(t);
      copy(targets[t].positions, i, positions, at);
      copy(targets[t].normals, i, normals, at);
      copy(targets[t].tangents, i, tangents, at);
    }
  }
}

MorphView ActiveMorphs::view() const {
  if (active == 0) return {};
  const auto data = [](const std::vector<float>& v) { return v.empty() ? nullptr : v.data(); };
  return {first.data(), weight.data(), data(positions), data(normals), data(tangents), active};
}

bool all_finite(std::span<const float> values) {
  // x − x is 0 for every finite x: one sum the compiler can vectorise, no early exit.
  float sum = 0;
  for (const float x : values) sum += x - x;
  return sum == 0;
}

void deform(DeformJob job) {
  if (job.frames == 0 || job.vertices == 0) return;
  const SkinningKernels& kernels = skinning_kernels_at(active_level());
  struct Free {
    void operator()(float* data) const { ::operator delete(data, std::align_val_t{64}); }
  };
  const auto floats = static_cast<std::size_t>(kernels.packed_floats(job));
  const std::unique_ptr<float, Free> packed(
      static_cast<float*>(::operator new(floats * sizeof(float), std::align_val_t{64})));
  job.packed = packed.get();

  // Work for which waking a thread pays: about 30 µs.
  constexpr std::int64_t kMatrices = 4096, kVertices = 16384;
  const std::int64_t batches = kernels.batches(job);
  const std::int64_t matrices = std::max<std::int64_t>(job.frames * job.joints / batches, 1);
  parallel_for(batches, kMatrices / matrices,
               [&](std::int64_t begin, std::int64_t end) { kernels.pack(job, begin, end); });
  parallel_for(kernels.tasks(job), kVertices / kernels.task_size(job),
               [&](std::int64_t begin, std::int64_t end) { kernels.deform(job, begin, end); });
}

}  // namespace bunraku
