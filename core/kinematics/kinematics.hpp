#pragma once
// Forward kinematics: local translations, rotations and scales of a hierarchy to global transforms,
// and global transforms to the matrices that skin a mesh.

#include <cstdint>

#include "level.hpp"

namespace bunraku {

// One node of a walk. `above` is the slot of scratch memory that has its parent, -1 for a root;
// `kept` the slot that it is left in for its children, -1 for a node without any.
struct HierarchyStep {
  std::int32_t node, above, kept;
};

// All arrays are C-contiguous and hold `frames` × `nodes` elements; nothing is owned.
template <class T>
struct HierarchyJob {
  const T* translations;       // 3 numbers each
  const T* rotations;          // unit quaternions x, y, z, w
  const T* scales;             // 3 numbers each; zero and negative ones are legal
  const HierarchyStep* steps;  // one per node
  std::int64_t frames;
  std::int64_t nodes;
  std::int64_t slots;
  T* globals;                  // out: 3×4 rows each
};

struct PaletteJob {
  const double* globals;       // frames × nodes × 3 × 4
  const std::int32_t* joints;  // joint_count nodes
  const double* inverse_binds; // joint_count × 4 × 4
  std::int64_t nodes;
  std::int64_t joint_count;
  float* palette;              // out: frames × joint_count × 3 × 4
};

// Computes the frames [begin, end). `scratch` has room for `scratch_size` numbers, and is fastest
// when it starts at a multiple of 64 bytes.
template <class T>
struct HierarchyKernel {
  void (*run)(const HierarchyJob<T>&, std::int64_t begin, std::int64_t end, T* scratch);
  std::int64_t lanes;  // frames that are computed side by side

  std::int64_t scratch_size(std::int64_t nodes, std::int64_t slots) const { return 12 * lanes * slots + 6 * nodes + 2; }
};

struct KinematicsKernels {
  HierarchyKernel<float> globals_float;
  HierarchyKernel<double> globals_double;
  void (*palette)(const PaletteJob&, std::int64_t begin, std::int64_t end);
};

BUNRAKU_DECLARE_KERNELS(KinematicsKernels, kinematics_kernels)

}  // namespace bunraku
