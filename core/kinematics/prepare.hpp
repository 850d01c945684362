#pragma once
// The plan of a walk down a hierarchy: what each step reads, and where it leaves what others read.

#include <cstdint>
#include <vector>

#include "kinematics/kinematics.hpp"

namespace bunraku {

struct HierarchyPlan {
  std::vector<HierarchyStep> steps;
  std::int32_t slots = 0;
};

// `order` lists every node once, parents before children.
HierarchyPlan plan_hierarchy(const std::int32_t* parents, const std::int32_t* order, std::int32_t nodes);

}  // namespace bunraku
