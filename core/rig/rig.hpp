#pragma once
// MMD's rigs: appends, inverse kinematics and evaluation order over local transforms, to global ones.

#include <cstdint>

#include "level.hpp"

namespace bunraku {

// A node that takes a share of another's motion.
struct RigAppend {
  std::int32_t source;
  bool rotation, translation, local;
  double ratio;
};

// How far a link may turn in one step.
struct StepLimit {
  double cosine;               // of the limit; 2 where every turn exceeds it, -2 where none does
  double half_sine, half_cosine;
};

// Which product of turns about the axes a limited rotation is split into.
enum class AxisOrder : std::int32_t { yxz, zyx, xzy };

struct RigLink {
  std::int32_t node, slot;     // slot: where its rotation by IK is kept
  bool limited;
  bool frozen;                 // all ranges are 0 … 0
  std::int32_t only;           // the one axis whose range is not 0 … 0, or -1
  AxisOrder order;
  double low[3], high[3];
  StepLimit grown, plain;      // by babylon-mmd's rule and by mmd-anim's
  std::int32_t refresh, refresh_end;  // into RigView::refreshes
  std::int32_t settle, settle_end;    // into RigView::settles
  std::int32_t above;                 // a later link of the chain that this one lies below, or -1
};

struct RigChain {
  std::int32_t goal, effector;
  std::int32_t links, links_end;  // into RigView::links, nearest the effector first
  std::int32_t loops;
};

struct RigView {
  std::int64_t nodes, chain_count, link_slots, append_count;
  const std::int32_t* parents;
  const double* rest;              // 3 numbers each, local
  const double* places;            // 3 numbers each, global
  const std::int32_t* order;       // in which nodes are evaluated
  const std::int32_t* append_of;   // per node, -1 for none
  const RigAppend* appends;
  const std::int32_t* slot_of;     // per node, -1 for a node that is no link
  const RigLink* links;
  const RigChain* chains;
  const std::int32_t* goals;       // nodes + 1 offsets into chains, which are sorted by goal
  const std::int32_t* chain_index; // per chain, its number before they were sorted
  // What is computed anew each time a link has turned, ~node where only its matrix is.
  const std::int32_t* refreshes;
  // What else lies below a link, and is computed once its chain rests.
  const std::int32_t* settles;
};

struct RigJob {
  RigView rig;
  const double* translations;  // frames × nodes × 3, absolute
  const double* rotations;     // frames × nodes × 4
  const double* scales;        // frames × nodes × 3
  const bool* ik;              // frames × chains, null where all are on
  std::int64_t frames;
  bool keep_best, plain_step;
  double* globals;             // out: frames × nodes × 3 × 4
};

// Squared metres between effector and goal below which a chain rests: 1e-4 of MMD's units.
inline constexpr double kReached = 8e-6 * 8e-6;
// Squared sine between effector and goal, seen from a link, below which it does not turn.
inline constexpr double kNoAxis = 1e-8;
// An effector's own chains are solved first, and theirs, to this depth.
inline constexpr int kNested = 8;

struct RigKernels {
  std::int64_t (*scratch_bytes)(const RigView&);
  // Computes the frames [begin, end); `scratch` is aligned to 64 bytes.
  void (*run)(const RigJob&, std::int64_t begin, std::int64_t end, void* scratch);
};

BUNRAKU_DECLARE_KERNELS(RigKernels, rig_kernels)

}  // namespace bunraku
