#pragma once
// Rays on a skin in a pose that nobody has computed: what the kernels are given.
//
// A tree over the triangles at rest says which of them belong together. What bounds a group in a
// pose follows from the joints that hold it: each vertex is a weighted mean of the places to which
// its joints alone would take it, so the group lies within the boxes its joints hold, moved with
// them. Vertices are bent where a ray reaches a leaf.

#include <cstdint>

#include "bvh/bvh.hpp"
#include "bvh/node.hpp"
#include "level.hpp"
#include "skinning/skinning.hpp"

namespace bunraku::posed {

inline constexpr int kWidth = bvh::kWidth;
inline constexpr int kCorners = 3 * kWidth;      // vertices of a leaf, at most
static_assert(kCorners <= kBlockVertices, "a leaf is bent as one block");

// What one joint holds below one lane of a node, at rest: the box of the vertices, rounded
// outwards, and between which bounds their weights lie (0 included if it holds only some of them).
struct alignas(32) Share {
  float centre[3];
  float weight;                                  // middle of the interval
  float half[3];
  float spread;                                  // half of its width
};

// The joints of one lane, the one with the largest weight first.
struct Lane {
  float centre[3], radius;                       // a ball around the vertices, for dual quaternions
  std::int32_t first;                            // in RestView::shares and slots
  std::int32_t count;
  std::int32_t morphs;                           // where its MorphBoxes begin …
  std::int32_t morph_count;                      // … and how many there are
  bool weighted;                                 // whether the intervals of weights are of use
};

// By how much a morph target of weight 1 displaces the vertices below a lane; 0 lies within.
struct MorphBox {
  float low[3], high[3];
  std::int32_t target;
};

struct Children {
  std::int32_t child[kWidth];                    // as in bvh::Node
};

// Up to eight triangles, and the run of vertices that only they refer to.
struct alignas(64) Leaf {
  std::int32_t first, count;                     // vertices
  std::int32_t primitive[kWidth];                // the caller's index, -1 in an unused lane
  std::uint8_t corner[3][kWidth];                // vertices, counted from `first`
};

// A geometry at rest. Its vertices are those of the leaves, one leaf after another; one that
// several leaves share stands in each, so that a leaf is read from one place.
struct RestView {
  const Children* nodes;
  const Lane* lanes;                             // kWidth per node
  const Share* shares;
  const std::int32_t* slots;                     // of shares: 0 the identity, joint j is j + 1
  const MorphBox* morph_boxes;
  const Leaf* leaves;
  const float* positions;                        // of leaf vertices, 3 floats each
  InfluenceView influences;                      // of leaf vertices; a leaf is a block, and `order`
                                                 // counts from its first; no heaviest
  PanelView panels;                              // of the same
  const std::int32_t* morph_first;               // (leaf vertices + 1), or null without morphs
  const std::int32_t* morph_target;
  const float* morph_deltas;                     // 3 floats each
  std::int64_t node_count, leaf_count;
  std::int32_t joints;                           // the largest joint with a weight, plus 1
  std::int32_t most_influences;                  // of a vertex
  std::int32_t most_morphs;                      // entries of a leaf
  float extent;                                  // largest |coordinate| at rest
  float rounding;                                // of linear blends, relative: see rest.cpp
};

// One palette, prepared. Linear palettes are taken as they are, and so are their bounds.
struct Pose {
  Method method;                                 // lbs or dqs
  const float* palette;                          // (joints, 3, 4)
  const float* morph_weights;                    // by target, or null when none is active
  float extent;                                  // as RestView::extent, with the morphs that are active
  float* columns;                                // (joints + 1, 32), 64-byte aligned: each column of
                                                 // a slot's matrix beside its absolute values
  float* packed;                                 // as DeformJob::packed
  float slack;                                   // of dual quaternions: what rounding may move, a metre
  float centre[3], reach;                        // as in bvh::TreeView
  bvh::Node root;                                // bounds of the root's lanes
};

// Per thread, for the morphs of one leaf: 4 × RestView::most_morphs floats, or null without any.
struct Scratch {
  float* morphs;
};

struct Survey {
  std::int64_t lanes, unbounded;
};

struct PosedKernels {
  std::int64_t (*packed_floats)(const RestView&, Method method);
  void (*prepare)(const RestView&, Pose&);
  // Counts, where wanted: boxes bounded and triangles bent.
  void (*closest)(const RestView&, const Pose&, const bvh::ClosestJob&, Scratch, std::int64_t begin,
                  std::int64_t end);
  void (*any)(const RestView&, const Pose&, const bvh::AnyJob&, Scratch, std::int64_t begin, std::int64_t end);
  void (*all)(const RestView&, const Pose&, const bvh::AllJob&, Scratch, std::int64_t begin, std::int64_t end);
  bvh::Single (*one)(const RestView&, const Pose&, Scratch, const float* origin, const float* direction,
                     float t_min, float t_max);
  // How many of the tree's lanes cannot be bounded in this pose.
  Survey (*survey)(const RestView&, const Pose&);
};

BUNRAKU_DECLARE_KERNELS(PosedKernels, posed_kernels)

}  // namespace bunraku::posed
