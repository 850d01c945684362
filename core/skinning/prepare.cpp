#include "skinning/prepare.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <memory>
#include <new>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "threads.hpp"

namespace bunraku {
namespace {

// The vertices of one block, before they are put in order.
class Block {
 public:
  struct Row {
    std::int32_t vertex, begin, width, heaviest;
  };

  void clear() {
    rows_.clear();
    slots_.clear();
    weights_.clear();
  }

  const Row& add(std::int32_t vertex, std::span<const std::int32_t> joints,
                 std::span<const float> weights) {
    held_.clear();
    double total = 0;
    for (std::size_t k = 0; k < joints.size(); ++k) {
      if (joints[k] < 0) throw std::invalid_argument("joints must not be negative");
      if (!(weights[k] >= 0) || !std::isfinite(weights[k])) {
        throw std::invalid_argument("weights must be finite and not negative");
      }
      if (weights[k] > 0) held_.emplace_back(joints[k], weights[k]);
      total += weights[k];
    }
    if (held_.empty()) held_.emplace_back(-1, total = 1);
    std::sort(held_.begin(), held_.end());

    Row row{vertex, static_cast<std::int32_t>(slots_.size()), 0, 0};
    float most = -1;
    for (std::size_t i = 0; i < held_.size(); ++row.width) {
      const std::int32_t joint = held_[i].first;
      double share = 0;
      for (; i < held_.size() && held_[i].first == joint; ++i) share += held_[i].second;
      slots_.push_back(joint + 1);
      weights_.push_back(static_cast<float>(share / total));
      if (weights_.back() > most) {
        most = weights_.back();
        row.heaviest = joint + 1;
      }
    }
    return rows_.emplace_back(row);
  }

  std::span<const Row> sorted() {
    std::stable_sort(rows_.begin(), rows_.end(), [this](const Row& a, const Row& b) {
      if (a.width != b.width) return a.width < b.width;
      const auto x = slots(a), y = slots(b);
      const auto [p, q] = std::mismatch(x.begin(), x.end(), y.begin());
      return p != x.end() ? *p < *q : a.heaviest < b.heaviest;
    });
    return rows_;
  }

  bool alike(const Row& a, const Row& b) const {
    return a.width == b.width && a.heaviest == b.heaviest && std::ranges::equal(slots(a), slots(b));
  }

  std::span<const std::int32_t> slots(const Row& row) const { return part(slots_, row); }
  std::span<const float> weights(const Row& row) const { return part(weights_, row); }

 private:
  template <typename T>
  static std::span<const T> part(const std::vector<T>& all, const Row& row) {
    return std::span(all).subspan(static_cast<std::size_t>(row.begin), static_cast<std::size_t>(row.width));
  }

  std::vector<std::pair<std::int32_t, double>> held_;
  std::vector<Row> rows_;
  std::vector<std::int32_t> slots_;
  std::vector<float> weights_;
};

std::int32_t length(const auto& list) { return static_cast<std::int32_t>(list.size()); }

}  // namespace

Influences::Influences(std::span<const std::int32_t> all_joints, std::span<const float> all_weights,
                       std::int64_t vertices, std::int64_t width) {
  if (vertices > std::numeric_limits<std::int32_t>::max() / std::max<std::int64_t>(width, 1)) {
    throw std::invalid_argument("more influences than 32-bit indices can count");
  }
  Block block;
  for (std::int64_t begin = 0; begin < vertices; begin += kBlockVertices) {
    block.clear();
    for (std::int64_t v = begin; v < std::min(begin + kBlockVertices, vertices); ++v) {
      const auto at = static_cast<std::size_t>(v * width), count = static_cast<std::size_t>(width);
      const Block::Row& row = block.add(static_cast<std::int32_t>(v), all_joints.subspan(at, count),
                                        all_weights.subspan(at, count));
      const auto row_weights = block.weights(row);
      heaviest.push_back(row.heaviest);
      sums.push_back(std::accumulate(row_weights.begin(), row_weights.end(), 0.0f));
      joints = std::max<std::int64_t>(joints, block.slots(row).back());
    }
    block_runs.push_back(length(runs));
    const Block::Row* last = nullptr;
    for (const Block::Row& row : block.sorted()) {
      if (last == nullptr || !block.alike(*last, row)) {
        runs.push_back({length(order), length(order), length(slots), length(weights), row.width, row.heaviest});
        slots.insert(slots.end(), block.slots(row).begin(), block.slots(row).end());
      }
      last = &row;
      order.push_back(row.vertex);
      weights.insert(weights.end(), block.weights(row).begin(), block.weights(row).end());
      runs.back().end = length(order);
    }
  }
  block_runs.push_back(length(runs));
}

namespace {

std::vector<std::int32_t> block_sizes(std::int64_t vertices) {
  std::vector<std::int32_t> sizes;
  for (std::int64_t begin = 0; begin < vertices; begin += kBlockVertices) {
    sizes.push_back(static_cast<std::int32_t>(std::min(kBlockVertices, vertices - begin)));
  }
  return sizes;
}

}  // namespace

Panels::Panels(const Influences& influences)
    : Panels(influences.view(), block_sizes(influences.vertices()), false) {}

Panels::Panels(const InfluenceView& influences, std::span<const std::int32_t> counts, bool local) {
  static_assert(kBlockVertices % kPanelVertices == 0);
  constexpr std::int32_t kVertices = kPanelVertices, kPerBlock = kBlockVertices / kPanelVertices;
  std::vector<PanelWeight> held[kPerBlock];
  for (std::size_t block = 0; block < counts.size(); ++block) {
    const std::int32_t first = local ? 0 : static_cast<std::int32_t>(block) * static_cast<std::int32_t>(kBlockVertices);
    for (auto& list : held) list.clear();
    for (std::int32_t r = influences.block_runs[block]; r < influences.block_runs[block + 1]; ++r) {
      const Run& run = influences.runs[r];
      const float* weight = influences.weights + run.weights;
      for (std::int32_t at = run.begin; at < run.end; ++at) {
        const std::int32_t v = influences.order[at] - first;
        for (std::int32_t k = 0; k < run.width; ++k) {
          held[v / kVertices].push_back({influences.slots[run.slots + k], v % kVertices, *weight++});
        }
      }
    }
    for (std::int32_t i = 0; i < kPerBlock; ++i) {
      const std::int32_t count = std::min(counts[block] - i * kVertices, kVertices);
      panels.push_back(count <= 0 ? Panel{} : add(held[i], count));
    }
  }
}

Panel Panels::add(std::vector<PanelWeight>& held, std::int32_t count) {
  std::ranges::sort(held, {}, &PanelWeight::slot);
  std::int32_t width = 0, last = -1;
  for (const PanelWeight& each : held) {
    width += each.slot != last;
    last = each.slot;
  }
  // Per vertex and frame a panel takes three quarters of a step for each of its joints; with
  // frames in the lanes, a vertex takes one for each of its own and about two for the way out.
  const double most = 1.5 * static_cast<double>(held.size()) / count + 2;
  Panel panel{length(slots), length(weights), width, length(rows)};
  if (width > kPanelJoints || width > most) {
    add_rows(held, count);
    panel.width = 0;
    return panel;
  }
  weights.resize(weights.size() + static_cast<std::size_t>(width * kPanelVertices));
  float* row = weights.data() + panel.weights - kPanelVertices;
  last = -1;
  for (const PanelWeight& each : held) {
    if (each.slot != last) {
      slots.push_back(last = each.slot);
      row += kPanelVertices;
    }
    row[each.lane] = each.weight;
  }
  return panel;
}

// `held` by ascending slots.
void Panels::add_rows(std::span<const PanelWeight> held, std::int32_t count) {
  scattered = true;
  std::int32_t widths[kPanelVertices] = {}, order[kPanelVertices];
  for (const PanelWeight& each : held) ++widths[each.lane];
  std::iota(order, order + count, 0);
  std::stable_sort(order, order + count, [&](std::int32_t a, std::int32_t b) { return widths[a] < widths[b]; });
  for (std::int32_t first = 0; first < count; first += kRowVertices) {
    Row row{};
    for (std::int32_t i = 0; i < kRowVertices; ++i) row.vertices[i] = order[std::min(first + i, count - 1)];
    row.width = widths[row.vertices[kRowVertices - 1]];
    const std::size_t from = slots.size(), size = static_cast<std::size_t>(row.width * kRowVertices);
    slots.resize(from + size);
    weights.resize(weights.size() + size);
    for (std::int32_t i = 0; i < kRowVertices; ++i) {
      std::size_t at = static_cast<std::size_t>(i);
      for (const PanelWeight& each : held) {
        if (each.lane != row.vertices[i]) continue;
        slots[from + at] = each.slot;
        weights[weights.size() - size + at] = each.weight;
        at += kRowVertices;
      }
    }
    rows.push_back(row);
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

// Infinity and NaN have all bits of the exponent. Of integers the compiler makes vectors; a sum of
// floats it must not reorder: 57 joints in 64 frames took 39 µs, a sixth of bending 2 700 vertices.
bool all_finite(std::span<const float> values) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  std::uint32_t found = 0;
  for (const float x : values) found |= (std::bit_cast<std::uint32_t>(x) & kExponent) == kExponent;
  return found == 0;
}

void deform(DeformJob job, Level level) {
  if (job.frames == 0 || job.vertices == 0) return;
  const SkinningKernels& kernels = skinning_kernels_at(level);
  struct Free {
    void operator()(float* data) const { ::operator delete(data, std::align_val_t{64}); }
  };
  const auto floats = static_cast<std::size_t>(kernels.packed_floats(job));
  const std::unique_ptr<float, Free> packed(
      static_cast<float*>(::operator new(floats * sizeof(float), std::align_val_t{64})));
  job.packed = packed.get();

  // Work that is worth another thread: about 8 µs.
  constexpr std::int64_t kMatrices = 1024, kVertices = 2048;
  const std::int64_t batches = kernels.batches(job);
  const std::int64_t matrices = std::max<std::int64_t>(job.frames * job.joints / batches, 1);
  parallel_for(batches, kMatrices / matrices,
               [&](std::int64_t begin, std::int64_t end) { kernels.pack(job, begin, end); });
  parallel_for(kernels.tasks(job), kVertices / kernels.task_size(job),
               [&](std::int64_t begin, std::int64_t end) { kernels.deform(job, begin, end); });
}

}  // namespace bunraku
