#pragma once
// Positions alone by linear blend, without blending matrices first:
//
//   v = Σ (w·x)·M₀ + (w·y)·M₁ + (w·z)·M₂ + w·M₃
//
// over ascending slots, one column after another, each step fused where the level can. Three
// layouts share these sums, and so their bits:
// - a panel is kPanelVertices vertices and the union of their joints; vertices are in the lanes,
//   a matrix element is read once for all of them, and the products w·p once for all frames;
// - scattered vertices, with too many joints between them for that, have frames in the lanes;
// - scattered vertices in single frames have the components of a column in the lanes.
// One Zen 2 thread, 100,000 vertices × 64 frames: 413 M vertices/s with blended matrices, 620 M in
// panels. In a trial of the panel's loop alone: 530 M unfused, 581 M with four frames of eight
// vertices, 668 M with two frames of sixteen.

#include "skinning/wide.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {
namespace detail {

inline constexpr int kPanelVecs = kPanelVertices / kLanes;
// Frames that share the products: as many as the registers hold sums for.
inline constexpr int kPanelFrames = kLanes == 8 ? 2 : 1;

// Sixteen floats per frame and slot: four columns of x, y, z and 0.
struct Columns {
  const float* first;
  std::int64_t step;  // from slot to slot

  explicit Columns(const Batch& batch)
      : first(batch.records() + (batch.wide ? kMatrixRows * kLanes : 0)),
        step(batch.layout.rows * (batch.wide ? kLanes : 1)) {}

  BUNRAKU_INLINE const float* of(std::int64_t slot, std::int64_t frame) const {
    return first + slot * step + frame * kColumnFloats;
  }
};

// The rest positions of a panel, component by component; lanes beyond the last vertex are 0.
BUNRAKU_INLINE void read_panel(const float* from, std::int64_t count, Vec (&p)[3][kPanelVecs]) {
  alignas(64) float padded[3 * kPanelVertices];
  if (count < kPanelVertices) {
    __builtin_memset(padded, 0, sizeof padded);
    __builtin_memcpy(padded, from, static_cast<std::size_t>(3 * count) * sizeof(float));
    from = padded;
  }
  for (int b = 0; b < kPanelVecs; ++b) {
    Vec xyz[3];
    deinterleave(from + 3 * kLanes * b, xyz);
    for (int k = 0; k < 3; ++k) p[k][b] = xyz[k];
  }
}

template <int kFrames>
BUNRAKU_INLINE void sum_panel(const float* products, const std::int32_t* slots, int width, const Columns& matrices,
                              std::int64_t frame, Vec (&v)[kFrames][kPanelVecs][3]) {
  for (auto& vertices : v) {
    for (auto& sums : vertices) {
      for (Vec& sum : sums) sum = Vec{};
    }
  }
  for (int j = 0; j < width; ++j, products += 4 * kPanelVertices) {
    const float* matrix = matrices.of(slots[j], frame);
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      Vec product[kPanelVecs];
      for (int b = 0; b < kPanelVecs; ++b) product[b] = load(products + q * kPanelVertices + b * kLanes);
#pragma GCC unroll 2
      for (int f = 0; f < kFrames; ++f) {
#pragma GCC unroll 3
        for (int k = 0; k < 3; ++k) {
          const Vec element = splat(matrix[f * kColumnFloats + 4 * q + k]);
#pragma GCC unroll 4
          for (int b = 0; b < kPanelVecs; ++b) v[f][b][k] = fused(product[b], element, v[f][b][k]);
        }
      }
    }
  }
}

template <int kFrames>
BUNRAKU_INLINE void bend_frames(const float* products, const std::int32_t* slots, int width, const Columns& matrices,
                                std::int64_t frame, std::int64_t count, float* to, std::int64_t stride) {
  Vec v[kFrames][kPanelVecs][3];
  sum_panel<kFrames>(products, slots, width, matrices, frame, v);
#pragma GCC unroll 2
  for (int f = 0; f < kFrames; ++f, to += stride) {
    if (count == kPanelVertices) {
#pragma GCC unroll 4
      for (int b = 0; b < kPanelVecs; ++b) interleave(v[f][b], to + 3 * kLanes * b);
    } else {
      alignas(64) float row[3 * kPanelVertices];
      for (int b = 0; b < kPanelVecs; ++b) interleave(v[f][b], row + 3 * kLanes * b);
      __builtin_memcpy(to, row, static_cast<std::size_t>(3 * count) * sizeof(float));
    }
  }
}

// The panel of a block's vertices from the `at`-th on.
BUNRAKU_INLINE const Panel& panel_of(const DeformJob& job, const Block& block, std::int64_t at) {
  return job.panels.panels[block.index * (kBlockVertices / kPanelVertices) + at / kPanelVertices];
}

// `rest` is the panel's positions, `first` its first vertex.
inline void bend_panel(const DeformJob& job, const Batch& batch, const Panel& panel, const float* rest,
                       std::int64_t first, std::int64_t count) {
  alignas(64) float products[kPanelJoints * 4 * kPanelVertices];
  Vec p[3][kPanelVecs];
  read_panel(rest, count, p);
  const float* weights = job.panels.weights + panel.weights;
  for (int j = 0; j < panel.width; ++j) {
    for (int b = 0; b < kPanelVecs; ++b) {
      const Vec weight = load(weights + j * kPanelVertices + b * kLanes);
      float* to = products + 4 * j * kPanelVertices + b * kLanes;
      for (int q = 0; q < 3; ++q) store(to + q * kPanelVertices, weight * p[q][b]);
      store(to + 3 * kPanelVertices, weight);
    }
  }
  const std::int32_t* slots = job.panels.slots + panel.slots;
  const std::int64_t stride = job.out_positions.frame_stride;
  float* to = job.out_positions.data + batch.frame * stride + 3 * first;
  const Columns matrices(batch);
  std::int64_t f = 0;
  for (; f + kPanelFrames <= batch.frames; f += kPanelFrames, to += kPanelFrames * stride) {
    bend_frames<kPanelFrames>(products, slots, panel.width, matrices, f, count, to, stride);
  }
  for (; f < batch.frames; ++f, to += stride) {
    bend_frames<1>(products, slots, panel.width, matrices, f, count, to, stride);
  }
}

inline void bend_panels(const DeformJob& job, const Batch& batch, const Block& block, const float* rest) {
  for (std::int64_t at = 0; at < block.count; at += kPanelVertices) {
    const std::int64_t left = block.count - at, count = left < kPanelVertices ? left : kPanelVertices;
    bend_panel(job, batch, panel_of(job, block, at), rest + 3 * at, block.begin + at, count);
  }
}

// One vertex, frames in the lanes.
template <typename Rest>
BUNRAKU_INLINE void sum_wide(const InfluenceView& influences, const Batch& batch, const Run& run, int at,
                             const Rest& rest, float* to) {
  const std::int64_t record = batch.layout.rows * kLanes;
  const std::int32_t* slots = influences.slots + run.slots;
  const float* weights = influences.weights + run.weights + (at - run.begin) * run.width;
  Vec v[3] = {};
  for (int k = 0; k < run.width; ++k) {
    const float* rows = batch.records() + slots[k] * record;
    const Vec weight = splat(weights[k]);
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      const Vec product = q < 3 ? weight * rest.position(q) : weight;
#pragma GCC unroll 3
      for (int r = 0; r < 3; ++r) v[r] = fused(product, load(rows + (4 * r + q) * kLanes), v[r]);
    }
  }
  for (int r = 0; r < 3; ++r) store(to + r * kLanes, v[r]);
}

inline void bend_wide_points(const DeformJob& job, const Batch& batch, const Block& block) {
  alignas(64) float positions[kBlockVertices * 3 * kLanes];
  const InfluenceView& influences = job.influences;
  const bool morphed = is_morphed(job, block.begin, block.begin + block.count);
  for (int r = influences.block_runs[block.index]; r < influences.block_runs[block.index + 1]; ++r) {
    const Run& run = influences.runs[r];
    for (int at = run.begin; at < run.end; ++at) {
      const std::int64_t v = influences.order[at];
      float* to = positions + 3 * (v - block.begin) * kLanes;
      if (morphed) {
        LaneRest rest;
        read_rest(job, batch, v, rest);
        sum_wide(influences, batch, run, at, rest, to);
      } else {
        sum_wide(influences, batch, run, at, SharedRest(job, v), to);
      }
    }
  }
  write_rows(positions, 3 * block.count, batch, job.out_positions, 3 * block.begin);
}

BUNRAKU_INLINE Quad load_quad(const float* from) {
  Quad q;
  __builtin_memcpy(&q, from, sizeof q);
  return q;
}

BUNRAKU_INLINE void store_three(float* to, const Quad& v) {
  typedef double Pair __attribute__((vector_size(16)));
  const double first = reinterpret_cast<Pair>(v)[0];
  __builtin_memcpy(to, &first, sizeof first);
  to[2] = v[2];
}

// All vertices of a run in one frame, x, y and z in the lanes.
BUNRAKU_INLINE void sum_narrow(const InfluenceView& influences, const Columns& matrices, const Run& run,
                               std::int64_t begin, const float* rest, float* to) {
  const std::int32_t* slots = influences.slots + run.slots;
  const float* weights = influences.weights + run.weights;
  for (int at = run.begin; at < run.end; ++at, weights += run.width) {
    const std::int64_t v = influences.order[at] - begin;
    const Quad p{rest[3 * v], rest[3 * v + 1], rest[3 * v + 2], 1};
    Quad sum{};
    for (int k = 0; k < run.width; ++k) {
      const float* matrix = matrices.of(slots[k], 0);
      const Quad products = weights[k] * p;
      sum = fused(__builtin_shufflevector(products, products, 0, 0, 0, 0), load_quad(matrix), sum);
      sum = fused(__builtin_shufflevector(products, products, 1, 1, 1, 1), load_quad(matrix + 4), sum);
      sum = fused(__builtin_shufflevector(products, products, 2, 2, 2, 2), load_quad(matrix + 8), sum);
      sum = fused(__builtin_shufflevector(products, products, 3, 3, 3, 3), load_quad(matrix + 12), sum);
    }
    store_three(to + 3 * v, sum);
  }
}

// A morphed block is no panel: its rest changes from frame to frame. In a single frame it may be.
BUNRAKU_INLINE bool is_panelled(const DeformJob& job, const Batch& batch, const Block& block) {
  if (job.panels.panels == nullptr) return false;
  if (batch.wide && is_morphed(job, block.begin, block.begin + block.count)) return false;
  for (std::int64_t at = 0; at < block.count; at += kPanelVertices) {
    if (panel_of(job, block, at).width == 0) return false;
  }
  return true;
}

inline void bend_narrow_points(const DeformJob& job, const Batch& batch, const Block& block) {
  const InfluenceView& influences = job.influences;
  const float* rest = job.positions + 3 * block.begin;
  alignas(64) float moved[3 * kBlockVertices];
  if (is_morphed(job, block.begin, block.begin + block.count)) {
    __builtin_memcpy(moved, rest, static_cast<std::size_t>(3 * block.count) * sizeof(float));
    const float* weights = job.morph_weights + batch.frame * job.morphs.active;
    for (std::int64_t i = 0; i < block.count; ++i) {
      each_displacement(job, block.begin + i, [&](int component, float delta, std::int32_t target) {
        moved[3 * i + component] += weights[target] * delta;
      });
    }
    rest = moved;
  }
  if (is_panelled(job, batch, block)) return bend_panels(job, batch, block, rest);
  float* to = job.out_positions.data + batch.frame * job.out_positions.frame_stride + 3 * block.begin;
  const Columns matrices(batch);
  for (int r = influences.block_runs[block.index]; r < influences.block_runs[block.index + 1]; ++r) {
    sum_narrow(influences, matrices, influences.runs[r], block.begin, rest, to);
  }
}

}  // namespace detail

inline void bend_points(const DeformJob& job, const Batch& batch, const Block& block) {
  if (!batch.wide) {
    detail::bend_narrow_points(job, batch, block);
  } else if (detail::is_panelled(job, batch, block)) {
    detail::bend_panels(job, batch, block, job.positions + 3 * block.begin);
  } else {
    detail::bend_wide_points(job, batch, block);
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
