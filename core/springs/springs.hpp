#pragma once
// Springs of a character, step by step: joints that turn so that their tails swing after the body
// (VRMC_springBone 1.0 and VRM 0.x secondary animation).
//
// Verlet integration in double precision on one thread per character. The result of a step depends
// on the step before and on nothing else: the same bits on every machine and for every number of
// threads.

#include <array>
#include <cstdint>
#include <vector>

namespace bunraku::springs {

using Vector = std::array<double, 3>;
using Quaternion = std::array<double, 4>;      // x, y, z, w
using Affine = std::array<double, 12>;         // 3×4 rows, translation last

enum class Shape : std::int32_t { sphere, capsule, plane };

struct Collider {
  std::int32_t node;
  Shape shape;
  bool inside;   // keeps tails in instead of out; spheres and capsules
  Vector offset; // centre, first end or point of the plane, in the node's space
  Vector other;  // the capsule's second end, the plane's normal
  double radius; // metres, not scaled by the node
};

struct Joint {
  std::int32_t node;
  std::int32_t center;            // node in whose space inertia is felt, -1 for the world
  std::vector<std::int32_t> path; // from the tail's node up to, not including, this one; may be empty
  Vector tail;                    // in the space of the path's first node, or of this one without a path
  double stiffness, drag, radius;
  Vector gravity;                 // power × direction
  std::int32_t spring;            // whose colliders push the tail
  Affine rest;                    // local matrix at rest
  Quaternion turn;                // local rotation at rest
  Vector axis;                    // unit vector to the tail at rest, in this node's space
};

// A character's hierarchy and what swings on it. `order` lists every node once: parents, and what
// a joint's colliders and centre hang on, come first. A collider that does not, because it hangs on
// the joint itself, does not push it. Joints are found by `joint_of`, -1 for none.
struct System {
  std::vector<std::int32_t> parents, order, joint_of;
  std::vector<Joint> joints;
  std::vector<std::vector<std::int32_t>> springs;  // the colliders of each, in the order they push
  std::vector<Collider> colliders;
  std::vector<std::int32_t> colliders_by_node;  // all of them, those of a node together, in `order`
  std::vector<std::int32_t> collider_ranks;     // where each stands in that list
};

// One character's motion in steps of `dt` seconds, and where its tails are. Nothing is owned.
struct Motion {
  const System* system;
  std::int64_t frames;
  const double* translations;  // frames × nodes × 3
  double* rotations;           // in and out: frames × nodes × 4, those of joints are replaced
  const double* scales;        // frames × nodes × 3
  double* tails;               // in and out: 2 × joints × 3, now and a step ago, in the centre's space
};

// Sets the tails where they rest in the first frame, and the joints of that frame to rest.
void start(const Motion& motion);

// Advances by a step per frame.
void run(const Motion& motion, double dt);

}  // namespace bunraku::springs
