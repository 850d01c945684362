#pragma once
// Blocks of vertices in a narrow batch: one frame, vertices in the lanes once they are blended.

#include "skinning/points.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

namespace detail {

// One number for each lane. Through memory, the vector would wait for the last of them to get there.
template <typename Number>
BUNRAKU_INLINE Vec of_lanes(const Number& number) {
#if defined(__AVX2__)
  return Vec{number(0), number(1), number(2), number(3), number(4), number(5), number(6), number(7)};
#else
  return Vec{number(0), number(1), number(2), number(3)};
#endif
}

// As many lanes as there are numbers.
BUNRAKU_INLINE Vec some(const float* from, std::int64_t count) {
  if (count == kLanes) return load(from);
  alignas(64) float padded[kLanes] = {};
  __builtin_memcpy(padded, from, static_cast<std::size_t>(count) * sizeof(float));
  return load(padded);
}

// Writes `count` vertices of kWidth components, held one component of all after another.
template <int kWidth>
BUNRAKU_INLINE void write_vertices(const float* columns, std::int64_t count, const Batch& batch,
                                   const FrameRows& to, std::int64_t vertex) {
  float* row = to.data + batch.frame * to.frame_stride + vertex * kWidth;
  if (kWidth == 3 && count == kLanes) {
    const Vec xyz[3] = {load(columns), load(columns + kLanes), load(columns + 2 * kLanes)};
    return interleave(xyz, row);
  }
  for (std::int64_t lane = 0; lane < count; ++lane) {
    for (int k = 0; k < kWidth; ++k) row[kWidth * lane + k] = columns[k * kLanes + lane];
  }
}

template <Method kMethod, bool kOriented, bool kStretches>
void bend_one_frame(const DeformJob& job, const Batch& batch, const Block& block) {
  constexpr bool kLinear = kMethod != Method::dqs, kDual = kMethod != Method::lbs;
  // Lanes beyond the last vertex are computed from what the buffers hold, and dropped.
  alignas(64) float matrices[kLinear ? kBlockVertices * kNarrowRows : 1];
  alignas(64) float duals[kDual ? kBlockVertices * kNarrowRows : 1];
  const InfluenceView& influences = job.influences;
  for (int r = influences.block_runs[block.index]; r < influences.block_runs[block.index + 1]; ++r) {
    const Run& run = influences.runs[r];
    if constexpr (kLinear) blend_run<Blend::matrices>(influences, batch, run, block.begin, matrices);
    if constexpr (kDual) {
      blend_run<kStretches ? Blend::stretched : Blend::rigid>(influences, batch, run, block.begin, duals);
    }
  }
  alignas(64) float results[20 * kLanes];
  const Surface out{results, results + 3 * kLanes, results + 6 * kLanes};
  const Surface other{results + 10 * kLanes, results + 13 * kLanes, results + 16 * kLanes};
  for (std::int64_t i = 0; i < block.count; i += kLanes) {
    const std::int64_t count = block.count - i < kLanes ? block.count - i : kLanes;
    const std::int64_t first = block.begin + i;
    const Sites sites{{batch.frame, first}, 1, count};
    const auto norm = [&](int lane) {
      return batch.records()[influences.heaviest[sites.at(lane).vertex] * batch.layout.rows + norm_row(batch, kMethod)];
    };
    const Vec norms = kOriented ? of_lanes(norm) : Vec{};
    const Vec share = kMethod == Method::mixed ? some(job.mix + first, count) : Vec{};
    LaneRest rest;
    read_rest(job, batch, sites, rest);
    if constexpr (kLinear) {
      Vec m[12];
      vertices_to_lanes<12>(matrices + i * kNarrowRows, m);
      linear_surface<kOriented>(job, m, norms, rest, sites, out);
    }
    if constexpr (kDual) {
      Vec q[8], stretch[6] = {};
      vertices_to_lanes<8>(duals + i * kNarrowRows, q);
      if constexpr (kStretches) {
        vertices_to_lanes<6>(duals + i * kNarrowRows + kStretchRow, stretch);
      } else {
        for (int k = 0; k < 3; ++k) stretch[k] = some(influences.sums + first, count);
      }
      dual_surface<kOriented>(job, q, stretch, kStretches, norms, rest, sites, kLinear ? other : out);
    }
    if constexpr (kLinear && kDual) mix<kOriented>(job, share, other, out);
    write_vertices<3>(out.position, count, batch, job.out_positions, first);
    if (kOriented && job.normals != nullptr) {
      write_vertices<3>(out.normal, count, batch, job.out_normals, first);
    }
    if (kOriented && job.tangents != nullptr) {
      write_vertices<4>(out.tangent, count, batch, job.out_tangents, first);
    }
  }
}

}  // namespace detail

template <Method kMethod, bool kOriented>
void bend_narrow(const DeformJob& job, const Batch& batch, const Block& block) {
  if constexpr (kMethod == Method::lbs && !kOriented) return bend_points(job, batch, block);
  if (kMethod == Method::lbs || batch.stretches()) return detail::bend_one_frame<kMethod, kOriented, true>(job, batch, block);
  return detail::bend_one_frame<kMethod, kOriented, false>(job, batch, block);
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
