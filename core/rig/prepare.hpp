#pragma once
// A rig is prepared once: nodes in evaluation order, and what each link of a chain moves.

#include <cstdint>
#include <span>
#include <vector>

#include "rig/rig.hpp"

namespace bunraku {

struct GivenAppend {
  std::int32_t node, source;
  double ratio;
  bool rotation, translation, local;
};

struct GivenLink {
  std::int32_t node;
  bool limited;
  double low[3], high[3];
};

struct GivenChain {
  std::int32_t goal, effector, loops;
  double step;
  std::vector<GivenLink> links;
};

// Owner of a RigView.
struct RigPlan {
  // `rest` has three numbers per node, `layers` and `after_physics` one. Throws
  // std::invalid_argument where parents form a cycle, an index is out of range, or a frame would
  // take more than a hundred million matrices.
  RigPlan(std::span<const std::int32_t> parents, std::span<const double> rest, std::span<const std::int32_t> layers,
          std::span<const bool> after_physics, std::span<const GivenAppend> appends,
          std::span<const GivenChain> chains);

  RigView view() const;

  std::vector<std::int32_t> parents, order, append_of, slot_of, goals, chain_index, refreshes, settles;
  std::vector<std::int32_t> depth_first, place_of, end_of;  // subtrees are ranges of places
  std::vector<double> rest, places;
  std::vector<RigAppend> appends;
  std::vector<RigLink> links;
  std::vector<RigChain> chains;
  std::int32_t slots = 0;
};

}  // namespace bunraku
