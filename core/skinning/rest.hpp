#pragma once
// The rest vertex a batch starts from: as the geometry has it, plus the active morph targets.

#include "skinning/blend.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

struct Rest {
  Vec position[3], normal[3], tangent[4];
};

namespace detail {

BUNRAKU_INLINE void splat_row(const float* row, int count, Vec* out) {
  for (int k = 0; k < count; ++k) out[k] = splat(row[k]);
}

// out += weights · delta for one entry; `deltas` may be null.
BUNRAKU_INLINE void displace(const float* deltas, std::int64_t entry, const Vec& weights, Vec* out) {
  if (deltas == nullptr) return;
  for (int k = 0; k < 3; ++k) out[k] += weights * splat(deltas[3 * entry + k]);
}

BUNRAKU_INLINE void displace(const float* deltas, std::int64_t entry, float weight, float* out) {
  if (deltas == nullptr) return;
  for (int k = 0; k < 3; ++k) out[k] += weight * deltas[3 * entry + k];
}

// Weights of one active target in the frames of a wide batch.
BUNRAKU_INLINE Vec frame_weights(const DeformJob& job, const Batch& batch, std::int64_t active) {
  Vec weights;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int64_t ahead = lane < batch.frames ? lane : batch.frames - 1;
    weights[lane] = job.morph_weights[(batch.frame + ahead) * job.morphs.active + active];
  }
  return weights;
}

}  // namespace detail

// kOriented: normals or tangents are wanted as well.
template <bool kOriented>
BUNRAKU_INLINE void read_rest(const DeformJob& job, const Batch& batch, std::int64_t vertex,
                              Rest& rest) {
  detail::splat_row(job.positions + 3 * vertex, 3, rest.position);
  const bool normals = kOriented && job.normals != nullptr;
  const bool tangents = kOriented && job.tangents != nullptr;
  if (normals) detail::splat_row(job.normals + 3 * vertex, 3, rest.normal);
  if (tangents) detail::splat_row(job.tangents + 4 * vertex, 4, rest.tangent);
  const MorphView& morphs = job.morphs;
  if (morphs.first == nullptr) return;
  for (std::int64_t e = morphs.first[vertex]; e < morphs.first[vertex + 1]; ++e) {
    const Vec weights = detail::frame_weights(job, batch, morphs.weight[e]);
    detail::displace(morphs.positions, e, weights, rest.position);
    if (normals) detail::displace(morphs.normals, e, weights, rest.normal);
    if (tangents) detail::displace(morphs.tangents, e, weights, rest.tangent);
  }
}

template <bool kOriented>
BUNRAKU_INLINE void read_rest(const DeformJob& job, const Batch& batch, const VertexGroup& group,
                              Rest& rest) {
  const MorphView& morphs = job.morphs;
  const float* weights = job.morph_weights + batch.frame * morphs.active;
  const bool normals = kOriented && job.normals != nullptr;
  const bool tangents = kOriented && job.tangents != nullptr;
  float lanes[10][kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::int64_t v = group.vertex[lane];
    float row[10] = {};
    for (int k = 0; k < 3; ++k) row[k] = job.positions[3 * v + k];
    for (int k = 0; k < 3 && normals; ++k) row[3 + k] = job.normals[3 * v + k];
    for (int k = 0; k < 4 && tangents; ++k) row[6 + k] = job.tangents[4 * v + k];
    if (morphs.first != nullptr) {
      for (std::int64_t e = morphs.first[v]; e < morphs.first[v + 1]; ++e) {
        const float weight = weights[morphs.weight[e]];
        detail::displace(morphs.positions, e, weight, row);
        if (normals) detail::displace(morphs.normals, e, weight, row + 3);
        if (tangents) detail::displace(morphs.tangents, e, weight, row + 6);
      }
    }
    for (int k = 0; k < (kOriented ? 10 : 3); ++k) lanes[k][lane] = row[k];
  }
  for (int k = 0; k < 3; ++k) rest.position[k] = load(lanes[k]);
  if (!kOriented) return;
  for (int k = 0; k < 3; ++k) rest.normal[k] = load(lanes[3 + k]);
  for (int k = 0; k < 4; ++k) rest.tangent[k] = load(lanes[6 + k]);
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
