#pragma once
// A geometry at rest, arranged for rays in any pose: built once.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "bvh/node.hpp"
#include "posed/posed.hpp"
#include "skinning/prepare.hpp"

namespace bunraku::posed {

// A morph target's displacements, (count, 3), of `vertices`.
struct Target {
  std::span<const std::int32_t> vertices;
  const float* positions;   // or null, for a target that displaces none
};

// Owner of a RestView.
class RestTree {
 public:
  // `positions` is (vertices of the rig, 3), `faces` (count, 3). Throws std::invalid_argument for
  // a face or a target outside the vertices, std::length_error beyond what 32-bit indices count.
  RestTree(const Influences& rig, const float* positions, std::span<const std::int32_t> faces,
           std::span<const Target> targets);

  const RestView& view() const { return view_; }
  std::int64_t triangles() const { return triangles_; }
  std::size_t targets() const { return target_extent_.size(); }
  std::size_t bytes() const;

  // Largest |coordinate| with these morph weights, one for each target.
  float extent(const float* morph_weights) const;

 private:
  std::vector<std::int32_t> copy_leaves(const bvh::TreeView& tree, const Influences& rig, const float* positions);
  void copy_morphs(std::span<const Target> targets, std::int64_t vertices, std::span<const std::int32_t> of_leaves);
  void bound_lanes(const bvh::TreeView& tree);

  RestView view_{};
  std::int64_t triangles_ = 0;
  std::vector<Children> nodes_;
  std::vector<Lane> lanes_;
  std::vector<Share> shares_;
  std::vector<std::int32_t> slots_;
  std::vector<MorphBox> morph_boxes_;
  std::vector<Leaf> leaves_;
  std::vector<float> positions_;
  std::vector<std::int32_t> leaf_runs_, run_slots_;
  std::vector<Run> runs_;
  std::vector<float> weights_, sums_;
  Panels panels_;
  std::vector<std::int32_t> morph_first_, morph_target_;
  std::vector<float> morph_deltas_, target_extent_;
};

}  // namespace bunraku::posed
