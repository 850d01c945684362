#pragma once
// What is prepared before the kernels run: influences once per geometry, active morphs per call.

#include <cstdint>
#include <span>
#include <vector>

#include "skinning/skinning.hpp"

namespace bunraku {

// Owner of an InfluenceView. Weights of 0 are dropped, repeated joints of a vertex are added up,
// the weights of a vertex scaled to add up to 1, and a vertex left with nothing is held by slot 0,
// the identity.
struct Influences {
  // `joints` and `weights` are (vertices, width). Throws std::invalid_argument on a negative
  // joint and on a weight that is negative or not finite.
  Influences(std::span<const std::int32_t> joints, std::span<const float> weights,
             std::int64_t vertices, std::int64_t width);

  InfluenceView view() const {
    return {block_runs.data(), runs.data(), order.data(), slots.data(),
            weights.data(),    sums.data(), heaviest.data()};
  }
  std::int64_t vertices() const { return static_cast<std::int64_t>(heaviest.size()); }

  std::int64_t joints = 0;  // the largest joint with a weight, plus 1
  std::vector<Run> runs;
  std::vector<std::int32_t> block_runs, order, slots, heaviest;
  std::vector<float> weights, sums;
};

// One morph target: displacements of `vertices`, any of them null.
struct MorphDeltas {
  std::span<const std::int32_t> vertices;
  const float* positions;
  const float* normals;
  const float* tangents;
};

// Owner of a MorphView. Throws std::invalid_argument on a vertex outside [0, vertices).
struct ActiveMorphs {
  ActiveMorphs(std::span<const MorphDeltas> targets, std::int64_t vertices);

  MorphView view() const;

  std::int64_t active;
  std::vector<std::int32_t> first, weight;
  std::vector<float> positions, normals, tangents;  // empty when no target has any
};

bool all_finite(std::span<const float> values);

// Packs the palette and deforms, on as many threads as the size is worth. `job.packed` is set here.
void deform(DeformJob job, Level level = active_level());

}  // namespace bunraku
