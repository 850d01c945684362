#pragma once
// Weighted sums of palette records.
//
// Sums run over ascending slots, one influence after another, in every layout: that order is
// part of the result.

#include "skinning/palette.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

// In which lanes each influence of a run must change sign to point the way of the heaviest: a
// question of joints and frames, so it is asked once for a run.
struct Flips {
  static constexpr int kKept = 16;  // influences beyond are asked again for every vertex
  Mask kept[kKept];
};

namespace detail {

// Records of the part of a batch's layout that a method blends; `step` floats between rows.
template <Method kMethod>
BUNRAKU_INLINE const float* records(const Batch& batch, int step) {
  return batch.records() + (kMethod == Method::lbs ? 0 : batch.layout.dual * step);
}

BUNRAKU_INLINE Mask wide_flip(const float* heaviest, const float* rows) {
  Vec dot = load(heaviest) * load(rows);
  for (int r = 1; r < 4; ++r) dot += load(heaviest + r * kLanes) * load(rows + r * kLanes);
  return dot < 0;
}

BUNRAKU_INLINE Mask narrow_flip(const float* heaviest, const float* rows) {
  float dot = heaviest[0] * rows[0];
  for (int r = 1; r < 4; ++r) dot += heaviest[r] * rows[r];
  return Mask{} - (dot < 0 ? 1 : 0);
}

// Four influences at once: alone, where neighbours share no joints and every vertex asks anew,
// the question took as long as the blend.
BUNRAKU_INLINE void narrow_flips(const float* heaviest, const float* const (&rows)[4], Mask* flips) {
  typedef std::int32_t Four __attribute__((vector_size(16)));
  Quad h, p[4];
  __builtin_memcpy(&h, heaviest, sizeof h);
  for (int k = 0; k < 4; ++k) {
    __builtin_memcpy(&p[k], rows[k], sizeof p[k]);
    p[k] *= h;
  }
  const Quad a = __builtin_shufflevector(p[0], p[1], 0, 4, 1, 5), b = __builtin_shufflevector(p[2], p[3], 0, 4, 1, 5);
  const Quad c = __builtin_shufflevector(p[0], p[1], 2, 6, 3, 7), d = __builtin_shufflevector(p[2], p[3], 2, 6, 3, 7);
  const Quad x = __builtin_shufflevector(a, b, 0, 1, 4, 5), y = __builtin_shufflevector(a, b, 2, 3, 6, 7);
  const Quad z = __builtin_shufflevector(c, d, 0, 1, 4, 5), w = __builtin_shufflevector(c, d, 2, 3, 6, 7);
  const Four negative = x + y + z + w < 0;
  for (int k = 0; k < 4; ++k) flips[k] = negative[k] - Mask{};
}

}  // namespace detail

// --- Wide: one vertex, kLanes frames in the lanes -------------------------------------------

BUNRAKU_INLINE void find_flips(const InfluenceView& influences, const Batch& batch, const Run& run,
                               Flips& flips) {
  const float* records = detail::records<Method::dqs>(batch, kLanes);
  const std::int64_t record = batch.layout.rows * kLanes;
  const int count = run.width < Flips::kKept ? run.width : Flips::kKept;
  for (int k = 0; k < count; ++k) {
    flips.kept[k] = detail::wide_flip(records + run.heaviest * record,
                                      records + influences.slots[run.slots + k] * record);
  }
}

BUNRAKU_INLINE void blend_matrices(const InfluenceView& influences, const Batch& batch,
                                   const Run& run, int at, Vec (&m)[12]) {
  const float* records = detail::records<Method::lbs>(batch, kLanes);
  const std::int64_t record = batch.layout.rows * kLanes;
  const std::int32_t* slots = influences.slots + run.slots;
  const float* weights = influences.weights + run.weights + (at - run.begin) * run.width;
  for (Vec& row : m) row = Vec{};
  for (int k = 0; k < run.width; ++k) {
    const float* rows = records + slots[k] * record;
    const Vec weight = splat(weights[k]);
    for (int r = 0; r < 12; ++r) m[r] += weight * load(rows + r * kLanes);
  }
}

BUNRAKU_INLINE void blend_duals(const InfluenceView& influences, const Batch& batch,
                                const Run& run, const Flips& flips, int at, Vec (&q)[8],
                                Vec (&stretch)[6]) {
  const float* records = detail::records<Method::dqs>(batch, kLanes);
  const std::int64_t record = batch.layout.rows * kLanes;
  const std::int32_t* slots = influences.slots + run.slots;
  const float* weights = influences.weights + run.weights + (at - run.begin) * run.width;
  const bool stretches = batch.stretches();
  for (Vec& row : q) row = Vec{};
  for (Vec& row : stretch) row = Vec{};
  if (!stretches) {
    for (int i = 0; i < 3; ++i) stretch[i] = splat(influences.sums[influences.order[at]]);
  }
  for (int k = 0; k < run.width; ++k) {
    const float* rows = records + slots[k] * record;
    const Mask flip = k < Flips::kKept
                          ? flips.kept[k]
                          : detail::wide_flip(records + run.heaviest * record, rows);
    const Vec weight = splat(weights[k]), aligned = negate_where(flip, weight);
    for (int r = 0; r < 8; ++r) q[r] += aligned * load(rows + r * kLanes);
    if (!stretches) continue;
    for (int r = 0; r < 6; ++r) stretch[r] += weight * load(rows + (kStretchRow + r) * kLanes);
  }
}

// --- Narrow: all vertices of a run in one frame, rows in the lanes ---------------------------

// Rows of a narrow record, and of a blended vertex.
inline constexpr int kNarrowRows = 16;

namespace detail {

// What is blended: matrices; dual quaternions and stretches; or dual quaternions alone where no
// joint stretches, and the stretch is the sum of the weights times the identity.
enum class Blend { matrices, stretched, rigid };

// kWidth influences per vertex, or any number if 0. The common counts unroll: 160 M instead of
// 126 M vertices/s in single frames.
template <Blend kBlend, int kWidth>
BUNRAKU_INLINE void blend_run(const InfluenceView& influences, const Batch& batch, const Run& run,
                              const Flips& flips, std::int64_t block_begin, float* out) {
  constexpr bool kDual = kBlend != Blend::matrices;
  constexpr int kDualVecs = kDual ? 8 / kLanes : 0;
  constexpr int kVecs = kBlend == Blend::rigid ? kDualVecs : kNarrowRows / kLanes;
  const float* records = detail::records<kDual ? Method::dqs : Method::lbs>(batch, 1);
  const std::int32_t* slots = influences.slots + run.slots;
  const float* weights = influences.weights + run.weights;
  const int width = kWidth == 0 ? run.width : kWidth;
  for (int at = run.begin; at < run.end; ++at, weights += width) {
    Vec sum[kVecs] = {};
    for (int k = 0; k < width; ++k) {
      const float* rows = records + slots[k] * batch.layout.rows;
      const Vec weight = splat(weights[k]);
      Vec aligned = weight;
      if constexpr (kDual) {
        const float* heaviest = records + run.heaviest * batch.layout.rows;
        const bool kept = kWidth != 0 || k < Flips::kKept;
        aligned = negate_where(kept ? flips.kept[k] : narrow_flip(heaviest, rows), weight);
      }
      for (int i = 0; i < kVecs; ++i) {
        sum[i] += (i < kDualVecs ? aligned : weight) * load(rows + i * kLanes);
      }
    }
    float* to = out + (influences.order[at] - block_begin) * kNarrowRows;
    for (int i = 0; i < kVecs; ++i) store(to + i * kLanes, sum[i]);
  }
}

}  // namespace detail

// Writes kNarrowRows floats for each vertex, at its place in the block.
template <detail::Blend kBlend>
BUNRAKU_INLINE void blend_run(const InfluenceView& influences, const Batch& batch, const Run& run,
                              std::int64_t block_begin, float* out) {
  Flips flips;
  if constexpr (kBlend != detail::Blend::matrices) {
    const float* records = detail::records<Method::dqs>(batch, 1);
    const float* heaviest = records + run.heaviest * batch.layout.rows;
    const std::int32_t* slots = influences.slots + run.slots;
    static_assert(Flips::kKept % 4 == 0);
    for (int k = 0; k < run.width && k < Flips::kKept; k += 4) {
      const float* rows[4];
      for (int i = 0; i < 4; ++i) rows[i] = k + i < run.width ? records + slots[k + i] * batch.layout.rows : heaviest;
      detail::narrow_flips(heaviest, rows, flips.kept + k);
    }
  }
  switch (run.width) {
    case 1: return detail::blend_run<kBlend, 1>(influences, batch, run, flips, block_begin, out);
    case 2: return detail::blend_run<kBlend, 2>(influences, batch, run, flips, block_begin, out);
    case 3: return detail::blend_run<kBlend, 3>(influences, batch, run, flips, block_begin, out);
    case 4: return detail::blend_run<kBlend, 4>(influences, batch, run, flips, block_begin, out);
    default: return detail::blend_run<kBlend, 0>(influences, batch, run, flips, block_begin, out);
  }
}

// kLanes blended vertices, one after another, into kRows rows with a vertex in each lane.
template <int kRows>
BUNRAKU_INLINE void vertices_to_lanes(const float* vertices, Vec* rows) {
  for (int begin = 0; begin < kRows; begin += kLanes) {
    Vec part[kLanes];
    transposed(vertices + begin, kNarrowRows, part);
    for (int r = 0; r < kLanes && begin + r < kRows; ++r) rows[begin + r] = part[r];
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
