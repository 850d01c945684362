#pragma once
// The rest vertex a batch starts from: as the geometry has it, plus the active morph targets.

#include "skinning/palette.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

struct Site {
  std::int64_t frame, vertex;
};

// Where the lanes stand: consecutive frames of one vertex or consecutive vertices of one frame.
struct Sites {
  Site first;
  std::int64_t frames, vertices;  // how many; one of them is 1, and lanes beyond repeat the last

  Site at(int lane) const {
    return {first.frame + (lane < frames ? lane : frames - 1),
            first.vertex + (lane < vertices ? lane : vertices - 1)};
  }
};

// The same vertex in every lane, read from the geometry where it is used. What the job does not
// want is null, and never read.
struct SharedRest {
  const float* positions;
  const float* normals;
  const float* tangents;

  SharedRest(const DeformJob& job, std::int64_t vertex)
      : positions(job.positions + 3 * vertex),
        normals(job.normals == nullptr ? nullptr : job.normals + 3 * vertex),
        tangents(job.tangents == nullptr ? nullptr : job.tangents + 4 * vertex) {}

  BUNRAKU_INLINE Vec position(int k) const { return splat(positions[k]); }
  BUNRAKU_INLINE Vec normal(int k) const { return splat(normals[k]); }
  BUNRAKU_INLINE Vec tangent(int k) const { return splat(tangents[k]); }
};

// A vertex of its own in every lane: components 0…2 position, 3…5 normal, 6…9 tangent.
struct LaneRest {
  alignas(64) float lanes[10][kLanes];

  BUNRAKU_INLINE Vec position(int k) const { return load(lanes[k]); }
  BUNRAKU_INLINE Vec normal(int k) const { return load(lanes[3 + k]); }
  BUNRAKU_INLINE Vec tangent(int k) const { return load(lanes[6 + k]); }
};

// Whether any of the vertices [begin, end) is displaced by an active morph target.
inline bool is_morphed(const DeformJob& job, std::int64_t begin, std::int64_t end) {
  const std::int32_t* first = job.morphs.first;
  return first != nullptr && first[begin] != first[end];
}

namespace detail {

// Calls add(component, deltas, entry, target) for every displacement of a vertex.
template <typename Add>
BUNRAKU_INLINE void each_displacement(const DeformJob& job, std::int64_t vertex, const Add& add) {
  const MorphView& morphs = job.morphs;
  const float* deltas[3] = {morphs.positions, job.normals == nullptr ? nullptr : morphs.normals,
                            job.tangents == nullptr ? nullptr : morphs.tangents};
  for (std::int64_t e = morphs.first[vertex]; e < morphs.first[vertex + 1]; ++e) {
    for (int group = 0; group < 3; ++group) {
      if (deltas[group] == nullptr) continue;
      for (int k = 0; k < 3; ++k) add(3 * group + k, deltas[group][3 * e + k], morphs.weight[e]);
    }
  }
}

template <int kWidth>
BUNRAKU_INLINE void read_vertices(const float* from, const Sites& sites, float (*lanes)[kLanes]) {
  if (kWidth == 3 && sites.vertices == kLanes) {  // vectors stored whole can be read back whole
    Vec xyz[3];
    deinterleave(from + 3 * sites.first.vertex, xyz);
    for (int k = 0; k < 3; ++k) store(lanes[k], xyz[k]);
    return;
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    const float* row = from + kWidth * sites.at(lane).vertex;
    for (int k = 0; k < kWidth; ++k) lanes[k][lane] = row[k];
  }
}

}  // namespace detail

// One vertex in the frames of a wide batch.
inline void read_rest(const DeformJob& job, const Batch& batch, std::int64_t vertex, LaneRest& rest) {
  const SharedRest shared(job, vertex);
  for (int k = 0; k < 3; ++k) store(rest.lanes[k], shared.position(k));
  for (int k = 0; k < 3 && job.normals != nullptr; ++k) store(rest.lanes[3 + k], shared.normal(k));
  for (int k = 0; k < 4 && job.tangents != nullptr; ++k) store(rest.lanes[6 + k], shared.tangent(k));
  if (!is_morphed(job, vertex, vertex + 1)) return;
  const std::int64_t active = job.morphs.active;
  const float* weights = job.morph_weights + batch.frame * active;
  detail::each_displacement(job, vertex, [&](int component, float delta, std::int32_t target) {
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::int64_t ahead = lane < batch.frames ? lane : batch.frames - 1;
      rest.lanes[component][lane] += weights[ahead * active + target] * delta;
    }
  });
}

// kLanes vertices in the frame of a narrow batch.
inline void read_rest(const DeformJob& job, const Batch& batch, const Sites& sites, LaneRest& rest) {
  const std::int64_t first = sites.first.vertex;
  detail::read_vertices<3>(job.positions, sites, rest.lanes);
  if (job.normals != nullptr) detail::read_vertices<3>(job.normals, sites, rest.lanes + 3);
  if (job.tangents != nullptr) detail::read_vertices<4>(job.tangents, sites, rest.lanes + 6);
  if (!is_morphed(job, first, first + sites.vertices)) return;
  const float* weights = job.morph_weights + batch.frame * job.morphs.active;
  for (int lane = 0; lane < kLanes; ++lane) {
    detail::each_displacement(job, sites.at(lane).vertex, [&](int component, float delta, std::int32_t target) {
      rest.lanes[component][lane] += weights[target] * delta;
    });
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
