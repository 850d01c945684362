#pragma once
// MMD's own ways of bending, for the vertices that ask for them: SDEF, which turns about a centre
// between two joints, and QDEF, which blends dual quaternions.

#include <cstdint>

#include "level.hpp"

namespace bunraku {

// Vertex v turns by q = slerp(q0, q1, w1) about C, and C moves to w0·S0·c0 + w1·S1·c1.
struct SphericalVertex {
  std::int32_t joints[2];   // among the used ones
  double share;             // w1; w0 is 1 − w1
  double center[3];         // C
  double first[3], second[3];  // c0, c1: C + (R_b − w0·R0 − w1·R1) / 2
};

struct DualInfluence {
  std::int32_t joint;  // among the used ones
  double weight;
};

struct SdefView {
  std::int64_t spherical_count, dual_count, joint_count;
  const std::int32_t* indices;      // which vertices, spherical ones first
  const std::int32_t* joints;       // palette slots of the used joints
  const SphericalVertex* spherical;
  const std::int32_t* dual_starts;  // dual_count + 1 offsets into influences
  const DualInfluence* influences;  // weights above 0, adding up to 1
};

// Rows of the vertices that bend; contiguous within a frame, `frame_stride` numbers apart.
struct RestRows {
  const float* data;  // null for none
  std::int64_t frame_stride;  // 0 for a rest that is the same in all frames
};
struct BentRows {
  float* data;
  std::int64_t frame_stride;
};

struct SdefJob {
  SdefView vertices;
  std::int64_t frames, palette_joints;
  const float* palette;  // frames × palette_joints × 3 × 4
  RestRows positions, normals, tangents;  // 3, 3 and 4 numbers for each of the vertices that bend
  BentRows out_positions, out_normals, out_tangents;  // of all vertices
  double* packed;  // 64-byte aligned, batches() × batch_numbers() long
};

struct SdefKernels {
  std::int64_t (*batches)(const SdefJob&);
  std::int64_t (*batch_numbers)(const SdefJob&);
  // Prepares the palette of batches [begin, end).
  void (*pack)(const SdefJob&, std::int64_t begin, std::int64_t end);
  // Bends the vertices [begin, end) in one batch of frames.
  void (*bend)(const SdefJob&, std::int64_t batch, std::int64_t begin, std::int64_t end);
};
BUNRAKU_DECLARE_KERNELS(SdefKernels, sdef_kernels)

}  // namespace bunraku
