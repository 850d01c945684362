#pragma once
// Blocks of vertices in a wide batch: frames in the lanes, vertices one after another.

#include "skinning/blend.hpp"
#include "skinning/surface.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

// Vertices [begin, begin + count), the `index`-th block of the geometry.
struct Block {
  std::int64_t begin, count, index;
};

// The row of squared norms of the heaviest joints' matrices, by which collapse is judged.
BUNRAKU_INLINE int norm_row(const Batch& batch, Method method) {
  return method == Method::lbs ? kMatrixRows : batch.layout.dual + kDualNormRow;
}

namespace detail {

// Writes `count` floats per frame, held one float of all frames after another, as frame rows.
inline void write_rows(const float* block, std::int64_t count, std::int64_t frames, float* to, std::int64_t stride) {
  Vec rows[kLanes];
  std::int64_t at = 0;
  for (; frames == kLanes && at + kLanes <= count; at += kLanes) {
    transposed(block + at * kLanes, kLanes, rows);
    float* to_frame = to + at;
#pragma GCC unroll 8
    for (int f = 0; f < kLanes; ++f, to_frame += stride) store(to_frame, rows[f]);
  }
  for (; at < count; at += kLanes) {
    transposed(block + at * kLanes, kLanes, rows);
    const std::int64_t floats = count - at < kLanes ? count - at : kLanes;
    for (int f = 0; f < frames; ++f) {
      const Vec row = rows[f];
      for (std::int64_t k = 0; k < floats; ++k) to[f * stride + at + k] = row[k];
    }
  }
}

inline void write_rows(const float* block, std::int64_t count, const Batch& batch, const FrameRows& to,
                       std::int64_t offset) {
  write_rows(block, count, batch.frames, to.data + batch.frame * to.frame_stride + offset, to.frame_stride);
}

}  // namespace detail

template <Method kMethod, bool kOriented, typename Rest>
BUNRAKU_INLINE void bend_vertex(const DeformJob& job, const Batch& batch, const Run& run,
                                const Flips& flips, int at, const Vec& norms, const Rest& rest,
                                const Surface& out) {
  const InfluenceView& influences = job.influences;
  const Sites sites{{batch.frame, influences.order[at]}, batch.frames, 1};
  if constexpr (kMethod != Method::dqs) {
    Vec m[12];
    blend_matrices(influences, batch, run, at, m);
    linear_surface<kOriented>(job, m, norms, rest, sites, out);
  }
  if constexpr (kMethod != Method::lbs) {
    Vec q[8], stretch[6];
    blend_duals(influences, batch, run, flips, at, q, stretch);
    if constexpr (kMethod == Method::dqs) {
      dual_surface<kOriented>(job, q, stretch, batch.stretches(), norms, rest, sites, out);
    } else {
      alignas(64) float results[10 * kLanes];
      const Surface dual{results, results + 3 * kLanes, results + 6 * kLanes};
      dual_surface<kOriented>(job, q, stretch, batch.stretches(), norms, rest, sites, dual);
      mix<kOriented>(job, splat(job.mix[sites.first.vertex]), dual, out);
    }
  }
}

template <Method kMethod, bool kOriented>
void bend_wide(const DeformJob& job, const Batch& batch, const Block& block) {
  constexpr std::int64_t kOrientedVertices = kOriented ? kBlockVertices : 0;
  alignas(64) float positions[kBlockVertices * 3 * kLanes];
  alignas(64) float normals[kOrientedVertices * 3 * kLanes + 1];
  alignas(64) float tangents[kOrientedVertices * 4 * kLanes + 1];
  const InfluenceView& influences = job.influences;
  const bool morphed = is_morphed(job, block.begin, block.begin + block.count);

  for (int r = influences.block_runs[block.index]; r < influences.block_runs[block.index + 1]; ++r) {
    const Run& run = influences.runs[r];
    const std::int64_t record = batch.layout.rows * kLanes;
    const Vec norms = load(batch.records() + run.heaviest * record + norm_row(batch, kMethod) * kLanes);
    Flips flips;
    if constexpr (kMethod != Method::lbs) find_flips(influences, batch, run, flips);
    for (int at = run.begin; at < run.end; ++at) {
      const std::int64_t v = influences.order[at], i = v - block.begin;
      const Surface out{positions + 3 * i * kLanes, normals + (kOriented ? 3 * i * kLanes : 0),
                        tangents + (kOriented ? 4 * i * kLanes : 0)};
      if (morphed || kMethod == Method::mixed) {
        LaneRest rest;
        read_rest(job, batch, v, rest);
        bend_vertex<kMethod, kOriented>(job, batch, run, flips, at, norms, rest, out);
      } else {
        bend_vertex<kMethod, kOriented>(job, batch, run, flips, at, norms, SharedRest(job, v), out);
      }
    }
  }
  detail::write_rows(positions, 3 * block.count, batch, job.out_positions, 3 * block.begin);
  if (kOriented && job.normals != nullptr) {
    detail::write_rows(normals, 3 * block.count, batch, job.out_normals, 3 * block.begin);
  }
  if (kOriented && job.tangents != nullptr) {
    detail::write_rows(tangents, 4 * block.count, batch, job.out_tangents, 4 * block.begin);
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
