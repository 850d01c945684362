#pragma once
// Forward kinematics: local translations, rotations and scales of a hierarchy to global transforms,
// and global transforms to the matrices that skin a mesh.

#include <cstdint>

#include "level.hpp"

namespace bunraku {

// All arrays are C-contiguous and hold `frames` × `nodes` elements; nothing is owned.
template <class T>
struct HierarchyJob {
  const T* translations;       // 3 numbers each
  const T* rotations;          // unit quaternions x, y, z, w
  const T* scales;             // 3 numbers each; zero and negative ones are legal
  const std::int32_t* parents; // per node, -1 for a root
  const std::int32_t* order;   // permutation of the nodes, parents before children
  std::int64_t frames;
  std::int64_t nodes;
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

// Computes the frames [begin, end). `scratch` has room for `scratch_per_node` numbers per node.
template <class T>
struct HierarchyKernel {
  void (*run)(const HierarchyJob<T>&, std::int64_t begin, std::int64_t end, T* scratch);
  std::int64_t scratch_per_node;
};

struct KinematicsKernels {
  HierarchyKernel<float> globals_float;
  HierarchyKernel<double> globals_double;
  void (*palette)(const PaletteJob&, std::int64_t begin, std::int64_t end);
};

BUNRAKU_DECLARE_KERNELS(KinematicsKernels, kinematics_kernels)

}  // namespace bunraku
