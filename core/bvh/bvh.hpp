#pragma once
// Batches of queries against one tree, and the kernels that answer them.

#include <cstdint>

#include "bvh/node.hpp"
#include "level.hpp"

namespace bunraku::bvh {

// A value for every ray, or one for all: stride 1 or 0.
template <typename T>
struct PerRay {
  const T* data;
  std::int64_t stride;
};

struct Rays {
  const float* origins;        // 3 floats each
  const float* directions;     // 3 floats each, any length but zero
  PerRay<float> t_min, t_max;  // both ends count
  PerRay<std::int32_t> skip;   // a primitive that does not exist for the ray, or -1
  bool front_only;             // leave out triangles seen from behind
  bool coherent;               // walk in groups, as neighbours run close together; else by turns
};

// One answer per ray. A miss is t = +inf, primitive = -1 and zeros.
struct ClosestJob {
  Rays rays;
  float* t;
  std::int32_t* primitive;
  float* u;                    // weights of a triangle's second and third corner
  float* v;
  float* normal;               // unit, 3 floats each, or null
  std::int32_t* box_tests;     // or both null
  std::int32_t* primitive_tests;
};

struct AnyJob {
  Rays rays;
  bool* hit;
};

struct Single {
  float t, u, v;
  std::int32_t primitive;
};

// Every primitive the ray meets, once, in no order; in a scene with the instance, else with 0.
struct AllJob {
  Rays rays;
  void* context;
  void (*found)(void* context, std::int64_t ray, const Single& hit, std::int32_t instance);
};

// `count`: primitives met. `winding`: crossings from behind minus crossings from the front, each
// shared edge counted for one of its triangles: inside a closed surface it is not zero.
struct CountJob {
  Rays rays;
  std::int32_t* count;
  bool winding;
};

// The closest point of the tree's triangles to each point, at most `max_distance` away.
struct NearestJob {
  const float* points;         // 3 floats each
  PerRay<float> max_distance;
  float* distance;             // +inf where there is none, with primitive -1 and zeros
  std::int32_t* primitive;
  float* closest;              // 3 floats each
  float* u;
  float* v;
};

// Instances of trees: `top` is a tree over their boxes in the world.
struct SceneView {
  TreeView top;
  const TreeView* const* trees;   // per instance
  const double* inverses;         // per instance, 3 × 4: world to the tree's own space
  float widen;                    // of margins in `top`: 4 × the worst condition of a transform
};

// As ClosestJob and AnyJob; no counts. Of hits at the same t the lowest instance is the closest,
// then the lowest primitive.
struct SceneJob {
  ClosestJob closest;
  std::int32_t* instance;
  bool* hit;                      // or null; if given, only this is answered
};

struct BvhKernels {
  void (*closest)(const TreeView&, const ClosestJob&, std::int64_t begin, std::int64_t end);
  void (*any)(const TreeView&, const AnyJob&, std::int64_t begin, std::int64_t end);
  void (*all)(const TreeView&, const AllJob&, std::int64_t begin, std::int64_t end);
  void (*count)(const TreeView&, const CountJob&, std::int64_t begin, std::int64_t end);
  void (*nearest)(const TreeView&, const NearestJob&, std::int64_t begin, std::int64_t end);
  void (*in_scene)(const SceneView&, const SceneJob&, std::int64_t begin, std::int64_t end);
  void (*all_in_scene)(const SceneView&, const AllJob&, std::int64_t begin, std::int64_t end);
  // As `closest`, but every packet of the tree is tested and no box.
  void (*closest_by_force)(const TreeView&, const ClosestJob&, std::int64_t begin, std::int64_t end);
  Single (*one)(const TreeView&, const float* origin, const float* direction, float t_min, float t_max);
  // Fills the packets below the nodes [begin, end) and the boxes of the lanes that hold them.
  void (*refit_packets)(const TreeView&, const Source&, std::int64_t begin, std::int64_t end);
  // Then the boxes of the lanes that hold nodes, children before parents.
  void (*refit_nodes)(const TreeView&);
};

BUNRAKU_DECLARE_KERNELS(BvhKernels, bvh_kernels)

}  // namespace bunraku::bvh
