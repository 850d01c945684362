#pragma once
// Which primitives of a tree reach into a box or a ball. Everything touching counts.

#include <cstdint>
#include <vector>

#include "bvh/tree.hpp"

namespace bunraku::bvh {

// Ascending indices.
std::vector<std::int32_t> overlap_box(const TreeView& tree, const float* low, const float* high);
std::vector<std::int32_t> overlap_ball(const TreeView& tree, const float* centre, float radius);

}  // namespace bunraku::bvh
