#pragma once
// Bending a vertex buffer by a palette of matrices: what the kernels are given.
//
// Two layouts share the arithmetic. A *wide* batch holds kLanes consecutive frames, one per
// lane, and walks the vertices one by one: no vertex needs a gather, each reads exactly its own
// influences, and the palette rows of kLanes frames stay in the first-level cache. A *narrow*
// batch is one frame: each vertex is blended with rows in the lanes, then kLanes vertices share
// what follows. Every lane computes the same sequence of operations in both, so results do not
// depend on how frames were batched. Positions alone by linear blend have a way of their own
// (points.hpp), with sums in another order: they may differ from those that come with normals by
// their last bits.

#include <cstdint>

#include "level.hpp"

namespace bunraku {

enum class Method { lbs, dqs, mixed };

// Vertices are taken in blocks of this many, so that their results fit the first-level cache.
inline constexpr std::int64_t kBlockVertices = 32;

// Vertices of one block that are held by the same joints, the same one the heaviest.
struct Run {
  std::int32_t begin, end;  // where in InfluenceView::order
  std::int32_t slots;       // where in InfluenceView::slots its `width` slots begin
  std::int32_t weights;     // where in InfluenceView::weights its (end − begin) × width begin
  std::int32_t width;       // influences per vertex, at least 1
  std::int32_t heaviest;    // slot with the largest weight, the lowest one on ties
};

// Influences of all vertices: weights above 0 only, in ascending slots without repetition, the
// weights of a vertex adding up to 1 (to rounding: `sums` says what they add up to in that order).
// Slot 0 of the kernels' palette is the identity, held by vertices that no joint holds; joint j
// is slot j + 1. Within a block, vertices are ordered so that runs are long; it costs nothing,
// because results find their place when a block is written, and lets a run read palette rows and
// compare signs once for several vertices.
struct InfluenceView {
  const std::int32_t* block_runs;  // (blocks + 1) where each block's runs begin
  const Run* runs;
  const std::int32_t* order;     // (V) vertices, block by block, run by run
  const std::int32_t* slots;
  const float* weights;
  const float* sums;             // (V) by vertex
  const std::int32_t* heaviest;  // (V) by vertex
};

// For positions alone, vertices are taken in panels of this many. In a dense panel `width` joints
// hold any of them, ascending, and have a weight for each, 0 where they do not hold it. A panel
// with too many joints for that is scattered: its vertices stand in rows of kRowVertices, those
// with few influences first; a row has as many influences as its widest vertex, the others' being
// made up with slot 0 and weight 0, and a row without enough vertices repeats one.
inline constexpr std::int64_t kPanelVertices = 16;
inline constexpr int kPanelJoints = 24, kRowVertices = 8;

struct Panel {
  std::int32_t slots;    // where in PanelView::slots its slots begin
  std::int32_t weights;  // where in PanelView::weights its width × kPanelVertices begin
  std::int32_t width;    // 0: scattered
  std::int32_t rows;     // where in PanelView::rows its rows begin
};

// The vertices of a row, counted from the first of the panel; it has width × kRowVertices slots and
// weights, which follow those of the row before.
struct Row {
  std::int32_t vertices[kRowVertices];
  std::int32_t width;
};

struct PanelView {
  const Panel* panels;  // kBlockVertices / kPanelVertices for each block
  const Row* rows;      // kPanelVertices / kRowVertices for each scattered panel, or fewer
  const std::int32_t* slots;
  const float* weights;
  bool scattered;  // some panel is
};

// Displacements by the active morph targets, regrouped by vertex. A null array displaces nothing.
struct MorphView {
  const std::int32_t* first;   // (V + 1) where each vertex's entries begin; null when none is active
  const std::int32_t* weight;  // (E) which of the active weights multiplies the entry
  const float* positions;      // (E, 3)
  const float* normals;        // (E, 3)
  const float* tangents;       // (E, 3)
  std::int64_t active;         // weights per frame
};

// Rows of vertices, contiguous within a frame; `frame_stride` counts floats.
struct FrameRows {
  float* data;
  std::int64_t frame_stride;
};

struct DeformJob {
  Method method;
  std::int64_t frames, vertices, joints;
  const float* palette;  // (F, J, 3, 4)
  InfluenceView influences;
  PanelView panels;  // used for positions alone by Method::lbs
  const float* positions;  // (V, 3)
  const float* normals;    // (V, 3) or null
  const float* tangents;   // (V, 4) or null
  const float* mix;        // (V) share of dual quaternions, for Method::mixed
  MorphView morphs;
  const float* morph_weights;  // (F, active)

  FrameRows out_positions;  // (F, V, 3)
  FrameRows out_normals;    // (F, V, 3) or null
  FrameRows out_tangents;   // (F, V, 4) or null

  float* packed;  // 64-byte aligned, SkinningKernels::packed_floats long, filled by pack()
};

struct SkinningKernels {
  std::int64_t (*packed_floats)(const DeformJob& job);
  // Rearranges the palette for batches [begin, end) of batches().
  std::int64_t (*batches)(const DeformJob& job);
  void (*pack)(const DeformJob& job, std::int64_t begin, std::int64_t end);
  // Deforms tasks [begin, end) of tasks(): one tile of vertices in one batch of frames each.
  std::int64_t (*tasks)(const DeformJob& job);
  std::int64_t (*task_size)(const DeformJob& job);  // vertices × frames, about
  void (*deform)(const DeformJob& job, std::int64_t begin, std::int64_t end);
};
BUNRAKU_DECLARE_KERNELS(SkinningKernels, skinning_kernels)

}  // namespace bunraku
