#pragma once
// Positions alone by linear blend, without blending matrices first:
//
//   v = Σ (w·x)·M₀ + (w·y)·M₁ + (w·z)·M₂ + w·M₃
//
// over ascending slots, one column after another, each step fused where the level can. Three
// layouts share these sums, and so their bits:
// - a dense panel has vertices in the lanes; a matrix element is read once for all of them, and
//   the products w·p are computed once for all frames of a batch;
// - a scattered panel, with too many joints for that, has frames in the lanes;
// - a scattered panel in a single frame has the components of a column in the lanes.
// A step waits for the one before it, so that each layout takes as many sums side by side as the
// registers hold. The loops over them are unrolled by name: an array that is not taken apart before
// the compiler looks for registers stays in memory, which halved the speed of scattered panels.

#include "skinning/wide.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {
namespace detail {

inline constexpr int kPanelVecs = kPanelVertices / kLanes;
// Frames that share the products: as many as the registers hold sums for.
inline constexpr int kPanelFrames = kLanes == 8 ? 2 : 1;

// Products of a panel: for each joint the weights times x, y and z, and the weights themselves.
using Products = float[kPanelJoints][4][kPanelVertices];

// Sixteen floats per frame and slot: four columns of x, y, z and 0.
struct Columns {
  const float* first;
  std::int64_t step;  // from slot to slot

  explicit Columns(const Batch& batch) : first(batch.records()), step(batch.frames * kColumnFloats) {}

  BUNRAKU_INLINE const float* of(std::int64_t slot, std::int64_t frame) const {
    return first + slot * step + frame * kColumnFloats;
  }
};

// Asks for the lines that the next panel will be written to in the frame of this one: stores that
// found them on their way took a twentieth less of the time. Streaming stores gained as much where
// results exceed the last cache, lost where they do not, and need whole lines.
BUNRAKU_INLINE void expect_next(const float* to) {
#pragma GCC unroll 3
  for (int line = 0; line < 3; ++line) __builtin_prefetch(to + kPanelVertices * (3 + line), 1);
}

// The rest positions of a panel, component by component; lanes beyond the last vertex are 0.
using Components = float[3][kPanelVertices];

BUNRAKU_INLINE void read_panel(const float* rest, std::int64_t count, Components& p) {
  alignas(64) float padded[3 * kPanelVertices];
  if (count < kPanelVertices) {
    __builtin_memset(padded, 0, sizeof padded);
    __builtin_memcpy(padded, rest, static_cast<std::size_t>(3 * count) * sizeof(float));
    rest = padded;
  }
#pragma GCC unroll 4
  for (int at = 0; at < kPanelVertices; at += kLanes) {
    Vec xyz[3];
    deinterleave(rest + 3 * at, xyz);
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) store(p[k] + at, xyz[k]);
  }
}

BUNRAKU_INLINE Vec product_of(const float* weights, const Components& p, int q, int at) {
  const Vec weight = load(weights + at);
  return q < 3 ? weight * load(p[q] + at) : weight;
}

BUNRAKU_INLINE void multiply(const float* weights, int width, const Components& p, Products& products) {
  for (int j = 0; j < width; ++j) {
    for (int q = 0; q < 4; ++q) {
      for (int at = 0; at < kPanelVertices; at += kLanes) {
        store(products[j][q] + at, product_of(weights + j * kPanelVertices, p, q, at));
      }
    }
  }
}

BUNRAKU_INLINE void write_panel(const Vec (&v)[kPanelVecs][3], std::int64_t count, float* to) {
  if (count == kPanelVertices) {
    expect_next(to);
#pragma GCC unroll 4
    for (int b = 0; b < kPanelVecs; ++b) interleave(v[b], to + 3 * kLanes * b);
  } else {
    alignas(64) float row[3 * kPanelVertices];
    for (int b = 0; b < kPanelVecs; ++b) interleave(v[b], row + 3 * kLanes * b);
    __builtin_memcpy(to, row, static_cast<std::size_t>(3 * count) * sizeof(float));
  }
}

template <int kFrames>
BUNRAKU_INLINE void bend_frames(const Products& products, const std::int32_t* slots, int width, const Columns& columns,
                                std::int64_t frame, std::int64_t count, float* to, std::int64_t stride) {
  Vec v[kFrames][kPanelVecs][3];
  for (auto& vertices : v) {
    for (auto& sums : vertices) {
      for (Vec& sum : sums) sum = Vec{};
    }
  }
  for (int j = 0; j < width; ++j) {
    const float* matrix = columns.of(slots[j], frame);
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
      Vec product[kPanelVecs];
      for (int b = 0; b < kPanelVecs; ++b) product[b] = load(products[j][q] + b * kLanes);
#pragma GCC unroll 2
      for (int f = 0; f < kFrames; ++f) {
#pragma GCC unroll 3
        for (int k = 0; k < 3; ++k) {
          const Vec element = splat(matrix[f * kColumnFloats + 4 * q + k]);
#pragma GCC unroll 4
          for (int b = 0; b < kPanelVecs; ++b) accumulate(v[f][b][k], product[b], element);
        }
      }
    }
  }
#pragma GCC unroll 2
  for (int f = 0; f < kFrames; ++f) write_panel(v[f], count, to + f * stride);
}

// A panel and where it goes in the first frame of its batch.
struct Place {
  const Panel& panel;
  const float* rest;
  std::int64_t count;  // vertices
  float* to;
};

// Frames [first, last) of the batch.
BUNRAKU_INLINE void bend_dense(const DeformJob& job, const Batch& batch, std::int64_t first, std::int64_t last,
                               const Place& place) {
  alignas(64) Components p;
  alignas(64) Products products;
  const int width = place.panel.width;
  read_panel(place.rest, place.count, p);
  multiply(job.panels.weights + place.panel.weights, width, p, products);
  const std::int32_t* slots = job.panels.slots + place.panel.slots;
  const std::int64_t stride = job.out_positions.frame_stride;
  const Columns columns(batch);
  std::int64_t f = first;
  for (; f + kPanelFrames <= last; f += kPanelFrames) {
    bend_frames<kPanelFrames>(products, slots, width, columns, f, place.count, place.to + f * stride, stride);
  }
  for (; f < last; ++f) bend_frames<1>(products, slots, width, columns, f, place.count, place.to + f * stride, stride);
}

// Panels summed side by side in a single frame, without products kept for others.
inline constexpr int kSinglePanels = kLanes == 8 ? 2 : 1;

BUNRAKU_INLINE void add_joint(const float* weights, const Components& p, const float* matrix, Vec (&v)[kPanelVecs][3]) {
#pragma GCC unroll 4
  for (int q = 0; q < 4; ++q) {
    Vec product[kPanelVecs];
#pragma GCC unroll 4
    for (int b = 0; b < kPanelVecs; ++b) product[b] = product_of(weights, p, q, b * kLanes);
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) {
      const Vec element = splat(matrix[4 * q + k]);
#pragma GCC unroll 4
      for (int b = 0; b < kPanelVecs; ++b) accumulate(v[b][k], product[b], element);
    }
  }
}

template <int kPanels>
BUNRAKU_INLINE void bend_single(const DeformJob& job, const Columns& columns, std::int64_t frame,
                                const Place (&places)[kPanels], std::int64_t stride) {
  alignas(64) Components p[kPanels];
  Vec v[kPanels][kPanelVecs][3];
  const std::int32_t* slots[kPanels];
  const float* weights[kPanels];
  int shared = kPanelJoints;
#pragma GCC unroll 2
  for (int i = 0; i < kPanels; ++i) {
    const Panel& panel = places[i].panel;
    read_panel(places[i].rest, places[i].count, p[i]);
    slots[i] = job.panels.slots + panel.slots;
    weights[i] = job.panels.weights + panel.weights;
    shared = panel.width < shared ? panel.width : shared;
#pragma GCC unroll 4
    for (int b = 0; b < kPanelVecs; ++b) {
#pragma GCC unroll 3
      for (int k = 0; k < 3; ++k) v[i][b][k] = Vec{};
    }
  }
  for (int j = 0; j < shared; ++j) {
#pragma GCC unroll 2
    for (int i = 0; i < kPanels; ++i) {
      add_joint(weights[i] + j * kPanelVertices, p[i], columns.of(slots[i][j], frame), v[i]);
    }
  }
#pragma GCC unroll 2
  for (int i = 0; i < kPanels; ++i) {
    for (int j = shared; j < places[i].panel.width; ++j) {
      add_joint(weights[i] + j * kPanelVertices, p[i], columns.of(slots[i][j], frame), v[i]);
    }
    write_panel(v[i], places[i].count, places[i].to + frame * stride);
  }
}

// Four vertices of a row in kLanes frames; `matrices` are twelve rows of every slot.
BUNRAKU_INLINE void sum_wide(const Row& row, int first, const std::int32_t* slots, const float* weights,
                             const float* matrices, const float* rest, float* to) {
  constexpr int kCount = 4;
  static_assert(kRowVertices % kCount == 0);
  Vec sums[kCount][3];
  const float *p[kCount], *matrix[kCount];
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    p[i] = rest + 3 * row.vertices[first + i];
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) sums[i][k] = Vec{};
  }
  for (int k = 0; k < row.width; ++k, slots += kRowVertices, weights += kRowVertices) {
#pragma GCC unroll 4
    for (int i = 0; i < kCount; ++i) matrix[i] = matrices + slots[first + i] * (kMatrixRows * kLanes);
#pragma GCC unroll 4
    for (int q = 0; q < 4; ++q) {
#pragma GCC unroll 4
      for (int i = 0; i < kCount; ++i) {
        const Vec product = splat(q < 3 ? weights[first + i] * p[i][q] : weights[first + i]);
#pragma GCC unroll 3
        for (int r = 0; r < 3; ++r) {
          accumulate(sums[i][r], product, matrix[i] + (3 * q + r) * kLanes);
        }
      }
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kCount; ++i) {
    float* v = to + 3 * row.vertices[first + i] * kLanes;
#pragma GCC unroll 3
    for (int k = 0; k < 3; ++k) store(v + k * kLanes, sums[i][k]);
  }
}

// The vertices of a row in one frame, x, y and z in the lanes.
BUNRAKU_INLINE void sum_narrow(const Row& row, const std::int32_t* slots, const float* weights, const Columns& columns,
                               std::int64_t frame, const float* rest, float* to) {
#if defined(__AVX2__)
  // Two vertices to a vector.
  constexpr int kPairs = kRowVertices / 2;
  const float* const base = columns.of(0, frame);
  Vec p[kPairs], sums[kPairs];
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i) {
    const Quad a = load_point(rest + 3 * row.vertices[2 * i]), b = load_point(rest + 3 * row.vertices[2 * i + 1]);
    p[i] = __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7);
    sums[i] = Vec{};
  }
  for (int k = 0; k < row.width; ++k, slots += kRowVertices, weights += kRowVertices) {
#pragma GCC unroll 4
    for (int i = 0; i < kPairs; ++i) {
      const float *first = base + slots[2 * i] * columns.step, *second = base + slots[2 * i + 1] * columns.step;
      const Vec four = _mm256_broadcast_ps(reinterpret_cast<const __m128*>(weights + i / 2 * 4));
      const Vec product = p[i] * (i % 2 == 0 ? __builtin_shufflevector(four, four, 0, 0, 0, 0, 5, 5, 5, 5)
                                             : __builtin_shufflevector(four, four, 2, 2, 2, 2, 7, 7, 7, 7));
      const Vec a = load(first), b = load(second), c = load(first + 8), d = load(second + 8);
      accumulate(sums[i], __builtin_shufflevector(product, product, 0, 0, 0, 0, 4, 4, 4, 4),
                 __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11));
      accumulate(sums[i], __builtin_shufflevector(product, product, 1, 1, 1, 1, 5, 5, 5, 5),
                 __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15));
      accumulate(sums[i], __builtin_shufflevector(product, product, 2, 2, 2, 2, 6, 6, 6, 6),
                 __builtin_shufflevector(c, d, 0, 1, 2, 3, 8, 9, 10, 11));
      accumulate(sums[i], __builtin_shufflevector(product, product, 3, 3, 3, 3, 7, 7, 7, 7),
                 __builtin_shufflevector(c, d, 4, 5, 6, 7, 12, 13, 14, 15));
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < kPairs; ++i) {
    store_point(to + 3 * row.vertices[2 * i], __builtin_shufflevector(sums[i], sums[i], 0, 1, 2, 3));
    store_point(to + 3 * row.vertices[2 * i + 1], __builtin_shufflevector(sums[i], sums[i], 4, 5, 6, 7));
  }
#else
  for (int i = 0; i < kRowVertices; ++i) {
    const Quad p = load_point(rest + 3 * row.vertices[i]);
    Quad sum{};
    for (int k = 0; k < row.width; ++k) {
      const float* matrix = columns.of(slots[k * kRowVertices + i], frame);
      const Quad products = weights[k * kRowVertices + i] * p;
      sum = fused(__builtin_shufflevector(products, products, 0, 0, 0, 0), load_quad(matrix), sum);
      sum = fused(__builtin_shufflevector(products, products, 1, 1, 1, 1), load_quad(matrix + 4), sum);
      sum = fused(__builtin_shufflevector(products, products, 2, 2, 2, 2), load_quad(matrix + 8), sum);
      sum = fused(__builtin_shufflevector(products, products, 3, 3, 3, 3), load_quad(matrix + 12), sum);
    }
    store_point(to + 3 * row.vertices[i], sum);
  }
#endif
}

// Frames [first, last) of the batch; `first` is a multiple of kLanes, or the last but one.
BUNRAKU_INLINE void bend_scattered(const DeformJob& job, const Batch& batch, std::int64_t first, std::int64_t last,
                                   const Place& place) {
  const Row* const rows = job.panels.rows + place.panel.rows;
  const Row* const end = rows + (place.count + kRowVertices - 1) / kRowVertices;
  const std::int64_t stride = job.out_positions.frame_stride;
  const Columns columns(batch);
  const float* const matrices = columns.of(job.joints + 1, 0);
  for (std::int64_t f = first; f < last;) {
    const std::int32_t* slots = job.panels.slots + place.panel.slots;
    const float* weights = job.panels.weights + place.panel.weights;
    const std::int64_t left = last - f, frames = 2 * left < kLanes ? 1 : left < kLanes ? left : kLanes;
    float* to = place.to + f * stride;
    alignas(64) float positions[kPanelVertices * 3 * kLanes];
    const float* group = matrices + f / kLanes * (job.joints + 1) * (kMatrixRows * kLanes);
    for (const Row* row = rows; row < end; ++row) {
      if (frames == 1) sum_narrow(*row, slots, weights, columns, f, place.rest, to);
      else for (int i = 0; i < kRowVertices; i += 4) sum_wide(*row, i, slots, weights, group, place.rest, positions);
      slots += row->width * kRowVertices;
      weights += row->width * kRowVertices;
    }
    if (frames > 1) write_rows(positions, 3 * place.count, frames, to, stride);
    f += frames;
  }
}

// Frames [first, last) of the batch, which share the positions `rest` of the block.
inline void bend_panels(const DeformJob& job, const Batch& batch, std::int64_t first, std::int64_t last,
                        const Block& block, const float* rest) {
  const Panel* panel = job.panels.panels + block.index * (kBlockVertices / kPanelVertices);
  const std::int64_t stride = job.out_positions.frame_stride;
  float* to = job.out_positions.data + batch.frame * stride + 3 * block.begin;
  if (kSinglePanels == 2 && last - first == 1 && block.count > kPanelVertices && panel[0].width > 0 && panel[1].width > 0) {
    const Place places[2] = {{panel[0], rest, kPanelVertices, to},
                             {panel[1], rest + 3 * kPanelVertices, block.count - kPanelVertices, to + 3 * kPanelVertices}};
    return bend_single<2>(job, Columns(batch), first, places, stride);
  }
  for (std::int64_t at = 0; at < block.count; at += kPanelVertices, ++panel) {
    const std::int64_t left = block.count - at, count = left < kPanelVertices ? left : kPanelVertices;
    const Place place{*panel, rest + 3 * at, count, to + 3 * at};
    if (panel->width > 0) bend_dense(job, batch, first, last, place);
    else bend_scattered(job, batch, first, last, place);
  }
}

}  // namespace detail

inline void bend_points(const DeformJob& job, const Batch& batch, const Block& block) {
  const float* rest = job.positions + 3 * block.begin;
  if (!is_morphed(job, block.begin, block.begin + block.count)) {
    return detail::bend_panels(job, batch, 0, batch.frames, block, rest);
  }
  for (std::int64_t f = 0; f < batch.frames; ++f) {
    alignas(64) float moved[3 * kBlockVertices];
    __builtin_memcpy(moved, rest, static_cast<std::size_t>(3 * block.count) * sizeof(float));
    const float* weights = job.morph_weights + (batch.frame + f) * job.morphs.active;
    for (std::int64_t i = 0; i < block.count; ++i) {
      detail::each_displacement(job, block.begin + i, [&](int component, float delta, std::int32_t target) {
        moved[3 * i + component] += weights[target] * delta;
      });
    }
    detail::bend_panels(job, batch, f, f + 1, block, moved);
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
