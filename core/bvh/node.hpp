#pragma once
// What a tree is made of: wide nodes that hold the boxes of their children, and packets of eight
// primitives. Plain data, shared by every instruction-set level.
//
// Boxes are kept relative to the tree's centre, so that a scene far from the origin loses nothing
// and a plane's distance along a ray is a single multiply-add. They are rounded to nearest:
// the margin of a query (ray.hpp, point.hpp) covers that.

#include <cstdint>

namespace bunraku::bvh {

inline constexpr int kWidth = 8;                     // children of a node, primitives of a packet
inline constexpr std::int32_t kEmpty = INT32_MIN;    // a lane without a child
inline constexpr int kMaxDepth = 96;                 // wide levels; the builder keeps to it
inline constexpr int kStack = kMaxDepth * (kWidth - 1) + 1;

// Coordinates beyond this (1.15e18) count as not finite: products of two still fit a float.
inline constexpr float kLargest = 0x1p60f;

enum class Kind { triangles, boxes, spheres };

// Children stand after their parent in memory, so one reverse pass refits a tree.
struct alignas(64) Node {
  float plane[3][2][kWidth];     // axis, low or high, child; an empty lane holds (+inf, -inf)
  std::int32_t child[kWidth];    // >= 0: a node; kEmpty; else ~packet
  std::int32_t spare[kWidth];
};

// A primitive that is not finite, or too large, has NaN in its lane, like an unused lane: nothing ever hits it.
struct alignas(64) Packet {
  float data[9][kWidth];              // triangles: corner * 3 + axis; boxes: low xyz, high xyz;
                                      // spheres: centre xyz, radius
  std::int32_t primitive[kWidth];     // the caller's index, -1 in an unused lane
};

// Vertex indices of a packet's triangles, by corner and lane.
struct Corners {
  std::int32_t vertex[3][kWidth];
};

// Where the primitives come from. Nothing is owned.
struct Source {
  Kind kind;
  const float* points;         // triangles: vertices; boxes: lows; spheres: centres; 3 floats each
  const float* extents;        // boxes: highs, 3 floats each; spheres: radii, 1 float each
  const std::int32_t* faces;   // triangles: 3 vertices each, all within the vertices
  std::int64_t point_count;
  std::int64_t count;          // primitives
};

// A tree as the kernels see it.
struct TreeView {
  Kind kind;
  Node* nodes;                 // nodes[0] is the root, unless there are no nodes
  Packet* packets;
  Corners* corners;            // null unless triangles that are meant to move
  std::int64_t node_count;
  std::int64_t packet_count;
  std::int32_t root;           // 0, or ~0 for a tree of one packet, or kEmpty
  float centre[3];
  float reach;                 // largest |coordinate| relative to the centre
  float low[3], high[3];       // bounds of everything finite; (+inf, -inf) when there is nothing
};

}  // namespace bunraku::bvh
