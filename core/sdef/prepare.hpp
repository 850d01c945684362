#pragma once
// Which vertices bend MMD's way, prepared once per geometry.

#include <cstdint>
#include <span>
#include <vector>

#include "sdef/sdef.hpp"

namespace bunraku {

// Owner of an SdefView.
struct SdefVertices {
  std::vector<std::int32_t> indices, joints, dual_starts{0};
  std::vector<SphericalVertex> spherical;
  std::vector<DualInfluence> influences;
  std::int64_t palette_joints = 0;  // the largest slot, plus 1

  // `slots` and `weights` are two each per vertex, adding up to more than 0; spherical vertices
  // are added before dual ones.
  void add_spherical(std::int32_t index, std::span<const std::int32_t> slots, std::span<const float> weights,
                     const float* center, const float* first, const float* second);
  void add_dual(std::int32_t index, std::span<const std::int32_t> slots, std::span<const float> weights);

  SdefView view() const;

 private:
  std::int32_t used(std::int32_t slot);
  std::vector<std::int32_t> number_;  // of a slot among the used ones, or -1
};

// Bends on as many threads as the size is worth, some frames at a time. `job.packed` is set here.
void bend(SdefJob job, Level level = active_level());

}  // namespace bunraku
