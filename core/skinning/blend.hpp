#pragma once
// Weighted sums of palette records, for kLanes frames of a vertex or kLanes vertices of a frame.

#include "skinning/palette.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

struct DualQuaternions {
  Vec q[8];        // real part x, y, z, w, then the dual part; not normalised
  Vec stretch[6];  // xx, yy, zz, xy, xz, yz
};

// --- Wide: one vertex, kLanes frames -------------------------------------------------------

BUNRAKU_INLINE void blend_matrices(const InfluenceView& influences, const Batch& batch,
                                   std::int64_t vertex, Vec (&m)[12]) {
  const std::int64_t record = batch.layout.rows * kLanes;
  std::int64_t i = influences.first[vertex];
  const std::int64_t end = influences.first[vertex + 1];
  const float* rows = batch.records() + influences.slot[i] * record;
  Vec weight = splat(influences.weight[i]);
  for (int r = 0; r < 12; ++r) m[r] = weight * load(rows + r * kLanes);
  while (++i < end) {
    rows = batch.records() + influences.slot[i] * record;
    weight = splat(influences.weight[i]);
    for (int r = 0; r < 12; ++r) m[r] += weight * load(rows + r * kLanes);
  }
}

BUNRAKU_INLINE void blend_duals(const InfluenceView& influences, const Batch& batch,
                                std::int64_t vertex, DualQuaternions& out) {
  const std::int64_t record = batch.layout.rows * kLanes;
  const float* records = batch.records() + batch.layout.dual * kLanes;
  const float* heaviest = records + influences.heaviest[vertex] * record;
  const bool stretches = batch.stretches();
  for (Vec& q : out.q) q = Vec{};
  // Without stretch every joint's is the identity, and the sum that of the weights: same bits.
  for (int r = 0; r < 6; ++r) {
    out.stretch[r] = splat(stretches || r >= 3 ? 0 : influences.sum[vertex]);
  }
  for (std::int64_t i = influences.first[vertex]; i < influences.first[vertex + 1]; ++i) {
    const float* rows = records + influences.slot[i] * record;
    const Vec weight = splat(influences.weight[i]);
    Vec dot = load(heaviest) * load(rows);
    for (int r = 1; r < 4; ++r) dot += load(heaviest + r * kLanes) * load(rows + r * kLanes);
    const Vec aligned = negate_where(dot < 0, weight);
    for (int r = 0; r < 8; ++r) out.q[r] += aligned * load(rows + r * kLanes);
    if (!stretches) continue;
    for (int r = 0; r < 6; ++r) out.stretch[r] += weight * load(rows + (kStretchRow + r) * kLanes);
  }
}

BUNRAKU_INLINE Vec heaviest_norms(const InfluenceView& influences, const Batch& batch,
                                  std::int64_t vertex, int row) {
  const std::int64_t record = batch.layout.rows * kLanes;
  return load(batch.records() + influences.heaviest[vertex] * record + row * kLanes);
}

// --- Narrow: kLanes vertices, one frame ----------------------------------------------------

// Vertices in the lanes; those beyond the last one repeat it.
struct VertexGroup {
  std::int64_t vertex[kLanes];
};

namespace detail {

// Rows [begin, begin + kLanes) of kLanes sums, written one sum after another, into lanes.
template <int kRows>
BUNRAKU_INLINE void rows_to_lanes(const float* sums, int row_stride, Vec (&out)[kRows]) {
  for (int begin = 0; begin < kRows; begin += kLanes) {
    Vec rows[kLanes];
    transposed(sums + begin, row_stride, rows);
    for (int r = 0; r < kLanes && begin + r < kRows; ++r) out[begin + r] = rows[r];
  }
}

}  // namespace detail

BUNRAKU_INLINE void blend_matrices(const InfluenceView& influences, const Batch& batch,
                                   const VertexGroup& group, Vec (&m)[12]) {
  constexpr int kVecs = 16 / kLanes;
  alignas(64) float sums[kLanes * 16];
  for (int lane = 0; lane < kLanes; ++lane) {
    std::int64_t i = influences.first[group.vertex[lane]];
    const std::int64_t end = influences.first[group.vertex[lane] + 1];
    const float* rows = batch.records() + influences.slot[i] * batch.layout.rows;
    Vec weight = splat(influences.weight[i]);
    Vec sum[kVecs];
    for (int k = 0; k < kVecs; ++k) sum[k] = weight * load(rows + k * kLanes);
    while (++i < end) {
      rows = batch.records() + influences.slot[i] * batch.layout.rows;
      weight = splat(influences.weight[i]);
      for (int k = 0; k < kVecs; ++k) sum[k] += weight * load(rows + k * kLanes);
    }
    for (int k = 0; k < kVecs; ++k) store(sums + lane * 16 + k * kLanes, sum[k]);
  }
  detail::rows_to_lanes(sums, 16, m);
}

BUNRAKU_INLINE void blend_duals(const InfluenceView& influences, const Batch& batch,
                                const VertexGroup& group, DualQuaternions& out) {
  constexpr int kVecs = 16 / kLanes, kRigidVecs = 8 / kLanes;
  alignas(64) float sums[kLanes * 16];
  const float* records = batch.records() + batch.layout.dual;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int64_t vertex = group.vertex[lane];
    const float* heaviest = records + influences.heaviest[vertex] * batch.layout.rows;
    Vec sum[kVecs] = {};
    for (std::int64_t i = influences.first[vertex]; i < influences.first[vertex + 1]; ++i) {
      const float* rows = records + influences.slot[i] * batch.layout.rows;
      const float weight = influences.weight[i];
      float dot = heaviest[0] * rows[0];
      for (int r = 1; r < 4; ++r) dot += heaviest[r] * rows[r];
      const Vec aligned = splat(dot < 0 ? -weight : weight);
      for (int k = 0; k < kRigidVecs; ++k) sum[k] += aligned * load(rows + k * kLanes);
      for (int k = kRigidVecs; k < kVecs; ++k) sum[k] += splat(weight) * load(rows + k * kLanes);
    }
    for (int k = 0; k < kVecs; ++k) store(sums + lane * 16 + k * kLanes, sum[k]);
  }
  Vec rows[14];
  detail::rows_to_lanes(sums, 16, rows);
  for (int r = 0; r < 8; ++r) out.q[r] = rows[r];
  for (int r = 0; r < 6; ++r) out.stretch[r] = rows[kStretchRow + r];
}

BUNRAKU_INLINE Vec heaviest_norms(const InfluenceView& influences, const Batch& batch,
                                  const VertexGroup& group, int row) {
  Vec norms;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int64_t slot = influences.heaviest[group.vertex[lane]];
    norms[lane] = batch.records()[slot * batch.layout.rows + row];
  }
  return norms;
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
