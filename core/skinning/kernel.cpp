// Linear-blend and dual-quaternion skinning, compiled once per instruction set.

#include "skinning/surface.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {
namespace {

// A task is a tile of vertices in one batch of frames. Its influences stay in the second-level
// cache while the batches that follow one another read them again.
constexpr std::int64_t kTile = 1024;
// Wide batches keep their results frame-in-lanes until a block is full, then turn it over into rows.
constexpr std::int64_t kBlock = 32;

// `vertices`: one vertex for a wide batch, a group for a narrow one. `share` is used when mixing.
template <Method kMethod, bool kOriented, typename Vertices, typename Rest, typename SiteOf>
BUNRAKU_INLINE void bend(const DeformJob& job, const Batch& batch, const Vertices& vertices,
                         const Rest& rest, const Vec& share, const SiteOf& site,
                         const Surface& out) {
  const InfluenceView& influences = job.influences;
  Vec norms{};
  if constexpr (kOriented) {
    const int row = kMethod == Method::dqs ? kDualNormRow : kMatrixRows;
    norms = heaviest_norms(influences, batch, vertices, row);
  }
  if constexpr (kMethod != Method::dqs) {
    Vec m[12];
    blend_matrices(influences, batch, vertices, m);
    linear_surface<kOriented>(job, m, norms, rest, site, out);
  }
  if constexpr (kMethod != Method::lbs) {
    DualQuaternions duals;
    blend_duals(influences, batch, vertices, duals);
    if constexpr (kMethod == Method::dqs) {
      dual_surface<kOriented>(job, duals, batch.stretches(), norms, rest, site, out);
    } else {
      float results[10 * kLanes];
      const Surface dual{results, results + 3 * kLanes, results + 6 * kLanes};
      dual_surface<kOriented>(job, duals, batch.stretches(), norms, rest, site, dual);
      mix<kOriented>(job, share, dual, out);
    }
  }
}

// Writes `count` floats per frame, held one float of all frames after another, as frame rows.
void write_rows(const float* block, std::int64_t count, const Batch& batch, const FrameRows& to,
                std::int64_t offset) {
  float* first = to.data + batch.frame * to.frame_stride + offset;
  Vec rows[kLanes];
  std::int64_t at = 0;
  for (; at + kLanes <= count; at += kLanes) {
    transposed(block + at * kLanes, kLanes, rows);
    for (int f = 0; f < batch.frames; ++f) store(first + f * to.frame_stride + at, rows[f]);
  }
  if (at == count) return;
  transposed(block + at * kLanes, kLanes, rows);
  for (int f = 0; f < batch.frames; ++f) {
    float* row = first + f * to.frame_stride + at;
    for (std::int64_t k = 0; k < count - at; ++k) row[k] = rows[f][k];
  }
}

template <Method kMethod, bool kOriented>
void deform_wide(const DeformJob& job, const Batch& batch, std::int64_t begin, std::int64_t end) {
  alignas(64) float positions[kBlock * 3 * kLanes];
  alignas(64) float normals[kBlock * 3 * kLanes];
  alignas(64) float tangents[kBlock * 4 * kLanes];
  for (std::int64_t from = begin; from < end; from += kBlock) {
    const std::int64_t count = end - from < kBlock ? end - from : kBlock;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t v = from + i;
      const Vec share = splat(kMethod == Method::mixed ? job.mix[v] : 0);
      const auto site = [&](int lane) {
        return Site{batch.frame + (lane < batch.frames ? lane : batch.frames - 1), v};
      };
      const Surface surface{positions + 3 * i * kLanes, normals + 3 * i * kLanes,
                            tangents + 4 * i * kLanes};
      if (is_morphed(job, v)) {
        LaneRest rest;
        read_rest(job, batch, v, rest);
        bend<kMethod, kOriented>(job, batch, v, rest, share, site, surface);
      } else {
        bend<kMethod, kOriented>(job, batch, v, SharedRest(job, v), share, site, surface);
      }
    }
    write_rows(positions, 3 * count, batch, job.out_positions, 3 * from);
    if (kOriented && job.normals != nullptr) write_rows(normals, 3 * count, batch, job.out_normals, 3 * from);
    if (kOriented && job.tangents != nullptr) write_rows(tangents, 4 * count, batch, job.out_tangents, 4 * from);
  }
}

template <int kWidth>
BUNRAKU_INLINE void write_vertices(const float* columns, std::int64_t count, float* row) {
  for (std::int64_t lane = 0; lane < count; ++lane) {
    for (int k = 0; k < kWidth; ++k) row[kWidth * lane + k] = columns[k * kLanes + lane];
  }
}

template <Method kMethod, bool kOriented>
void deform_narrow(const DeformJob& job, const Batch& batch, std::int64_t begin, std::int64_t end) {
  const auto row = [&](const FrameRows& rows) { return rows.data + batch.frame * rows.frame_stride; };
  for (std::int64_t from = begin; from < end; from += kLanes) {
    const std::int64_t count = end - from < kLanes ? end - from : kLanes;
    VertexGroup group;
    Vec share = Vec{};
    for (int lane = 0; lane < kLanes; ++lane) {
      group.vertex[lane] = from + (lane < count ? lane : count - 1);
      if (kMethod == Method::mixed) share[lane] = job.mix[group.vertex[lane]];
    }
    const auto site = [&](int lane) { return Site{batch.frame, group.vertex[lane]}; };
    float results[10 * kLanes];
    const Surface surface{results, results + 3 * kLanes, results + 6 * kLanes};
    LaneRest rest;
    read_rest(job, batch, group, rest);
    bend<kMethod, kOriented>(job, batch, group, rest, share, site, surface);
    write_vertices<3>(surface.position, count, row(job.out_positions) + 3 * from);
    if (kOriented && job.normals != nullptr) {
      write_vertices<3>(surface.normal, count, row(job.out_normals) + 3 * from);
    }
    if (kOriented && job.tangents != nullptr) {
      write_vertices<4>(surface.tangent, count, row(job.out_tangents) + 4 * from);
    }
  }
}

template <Method kMethod, bool kOriented>
void deform_tasks(const DeformJob& job, std::int64_t begin, std::int64_t end) {
  const std::int64_t per_tile = batches(job).count();
  for (std::int64_t task = begin; task < end; ++task) {
    const std::int64_t from = task / per_tile * kTile;
    const std::int64_t to = from + kTile < job.vertices ? from + kTile : job.vertices;
    const Batch in = batch(job, task % per_tile);
    if (in.wide) {
      deform_wide<kMethod, kOriented>(job, in, from, to);
    } else {
      deform_narrow<kMethod, kOriented>(job, in, from, to);
    }
  }
}

template <bool kOriented>
void deform_by_method(const DeformJob& job, std::int64_t begin, std::int64_t end) {
  switch (job.method) {
    case Method::lbs: return deform_tasks<Method::lbs, kOriented>(job, begin, end);
    case Method::dqs: return deform_tasks<Method::dqs, kOriented>(job, begin, end);
    case Method::mixed: return deform_tasks<Method::mixed, kOriented>(job, begin, end);
  }
}

void deform(const DeformJob& job, std::int64_t begin, std::int64_t end) {
  const bool oriented = job.normals != nullptr || job.tangents != nullptr;
  return oriented ? deform_by_method<true>(job, begin, end) : deform_by_method<false>(job, begin, end);
}

void pack(const DeformJob& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t index = begin; index < end; ++index) pack_batch(job, batch(job, index));
}

std::int64_t packed_floats(const DeformJob& job) {
  const Batches all = batches(job);
  return all.wide * batch_floats(job, true) + all.narrow * batch_floats(job, false);
}

std::int64_t batch_count(const DeformJob& job) { return batches(job).count(); }

std::int64_t task_count(const DeformJob& job) {
  return (job.vertices + kTile - 1) / kTile * batches(job).count();
}

std::int64_t task_size(const DeformJob& job) { return kTile * (batches(job).wide > 0 ? kLanes : 1); }

constexpr SkinningKernels kKernels = {packed_floats, batch_count, pack,
                                      task_count,    task_size,   deform};

}  // namespace
}  // namespace bunraku::BUNRAKU_LEVEL::skinning

namespace bunraku::BUNRAKU_LEVEL {
extern const SkinningKernels skinning_kernels = skinning::kKernels;
}
