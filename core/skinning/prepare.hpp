#pragma once
// What is prepared before the kernels run: influences once per geometry, active morphs per call.

#include <cstdint>
#include <span>
#include <utility>
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

// What a joint has of a vertex of a panel.
struct PanelWeight {
  std::int32_t slot, lane;
  float weight;
};

// Owner of a PanelView: two panels for every block. One is worth its zeros as long as its joints
// are not many more than a vertex of it has.
struct Panels {
  Panels() = default;
  // `counts` is the vertices of each block; InfluenceView::order counts from the block's own first
  // vertex if `local`, else from the geometry's.
  Panels(const InfluenceView& influences, std::span<const std::int32_t> counts, bool local);
  explicit Panels(const Influences& influences);

  PanelView view() const { return {panels.data(), rows.data(), slots.data(), weights.data(), scattered}; }

  std::vector<Panel> panels;
  std::vector<Row> rows;
  std::vector<std::int32_t> slots;
  std::vector<float> weights;
  bool scattered = false;

 private:
  Panel add(std::vector<PanelWeight>& held, std::int32_t count);
  void add_rows(std::span<const PanelWeight> held, std::int32_t count);
};

// What is prepared once per geometry.
struct Rig {
  explicit Rig(Influences from) : influences(std::move(from)), panels(influences) {}

  Influences influences;
  Panels panels;
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
