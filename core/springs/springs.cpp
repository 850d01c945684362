#include "springs/springs.hpp"

#include <algorithm>
#include <cmath>

namespace bunraku::springs {
namespace {

Vector operator+(const Vector& a, const Vector& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }
Vector operator-(const Vector& a, const Vector& b) { return {a[0] - b[0], a[1] - b[1], a[2] - b[2]}; }
Vector operator*(double s, const Vector& a) { return {s * a[0], s * a[1], s * a[2]}; }
double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
double length(const Vector& a) { return std::sqrt(dot(a, a)); }
Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

// The zero vector keeps no direction.
Vector unit(const Vector& a) {
  const double size = length(a);
  return size > 0 ? (1 / size) * a : Vector{};
}

Quaternion operator*(const Quaternion& a, const Quaternion& b) {
  return {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
          a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
          a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
          a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
}

// The shortest turn of one unit vector onto another; about any axis across where they are opposite.
Quaternion between(const Vector& a, const Vector& b) {
  Vector normal = cross(a, b);
  double w = 1 + dot(a, b);
  if (w < 1e-12) {
    const Vector least = std::abs(a[0]) < std::abs(a[1])
                             ? (std::abs(a[0]) < std::abs(a[2]) ? Vector{1, 0, 0} : Vector{0, 0, 1})
                             : (std::abs(a[1]) < std::abs(a[2]) ? Vector{0, 1, 0} : Vector{0, 0, 1});
    normal = cross(a, least);
    w = 0;
  }
  const double size = std::sqrt(dot(normal, normal) + w * w);
  return {normal[0] / size, normal[1] / size, normal[2] / size, w / size};
}

Affine local(const double* t, const double* q, const double* s) {
  const double x = q[0], y = q[1], z = q[2], w = q[3];
  return {(1 - 2 * (y * y + z * z)) * s[0], 2 * (x * y - z * w) * s[1],       2 * (x * z + y * w) * s[2],       t[0],
          2 * (x * y + z * w) * s[0],       (1 - 2 * (x * x + z * z)) * s[1], 2 * (y * z - x * w) * s[2],       t[1],
          2 * (x * z - y * w) * s[0],       2 * (y * z + x * w) * s[1],       (1 - 2 * (x * x + y * y)) * s[2], t[2]};
}

Affine operator*(const Affine& a, const Affine& b) {
  Affine out;
  for (std::size_t r = 0; r < 12; r += 4) {
    for (std::size_t c = 0; c < 4; ++c) {
      out[r + c] = a[r] * b[c] + a[r + 1] * b[4 + c] + a[r + 2] * b[8 + c] + (c == 3 ? a[r + 3] : 0);
    }
  }
  return out;
}

Vector turned(const Affine& m, const Vector& v) {
  return {m[0] * v[0] + m[1] * v[1] + m[2] * v[2], m[4] * v[0] + m[5] * v[1] + m[6] * v[2],
          m[8] * v[0] + m[9] * v[1] + m[10] * v[2]};
}
Vector moved(const Affine& m, const Vector& v) { return turned(m, v) + Vector{m[3], m[7], m[11]}; }

Vector row(const Affine& m, std::size_t r) { return {m[4 * r], m[4 * r + 1], m[4 * r + 2]}; }

// v with the linear part undone; the zero vector where that cannot be.
Vector turned_back(const Affine& m, const Vector& v) {
  const Vector a = row(m, 0), b = row(m, 1), c = row(m, 2);
  const Vector bc = cross(b, c), ca = cross(c, a), ab = cross(a, b);
  const double volume = dot(a, bc);
  if (!(std::abs(volume) > 0)) return {};
  return (1 / volume) * (v[0] * bc + v[1] * ca + v[2] * ab);
}
Vector moved_back(const Affine& m, const Vector& v) { return turned_back(m, v - Vector{m[3], m[7], m[11]}); }

// What a normal becomes: the cofactors of the linear part, which are its inverse transpose but for
// a factor that only the sign of the volume is left of.
Vector turned_normal(const Affine& m, const Vector& n) {
  const Vector a = row(m, 0), b = row(m, 1), c = row(m, 2);
  const Vector bc = cross(b, c);
  const Vector out{dot(bc, n), dot(cross(c, a), n), dot(cross(a, b), n)};
  return unit(dot(a, bc) < 0 ? -1 * out : out);
}

// A collider in the world, once its node's place is known.
struct Placed {
  Vector first, along; // sphere: centre; capsule: end and the way to the other; plane: point and normal
  double along_squared;
};

Placed placed(const Collider& shape, const Affine& world) {
  const Vector first = moved(world, shape.offset);
  Vector along{};
  if (shape.shape == Shape::plane) along = turned_normal(world, shape.other);
  if (shape.shape == Shape::capsule) along = moved(world, shape.other) - first;
  return {first, along, dot(along, along)};
}

// The way out for a ball that is where it must not be; the zero vector otherwise.
Vector push(const Collider& shape, const Placed& where, const Vector& at, double radius) {
  Vector way = at - where.first;
  if (shape.shape == Shape::plane) {
    const double distance = dot(way, where.along) - radius;
    return distance < 0 ? -distance * where.along : Vector{};
  }
  if (shape.shape == Shape::capsule && where.along_squared > 0) {
    way = way - std::clamp(dot(way, where.along) / where.along_squared, 0.0, 1.0) * where.along;
  }
  const double limit = shape.inside ? shape.radius - radius : shape.radius + radius;
  const double squared = dot(way, way);
  // Most balls are far from most shapes: no root for them.
  if (!shape.inside && (limit <= 0 || squared >= limit * limit)) return {};
  const double far = std::sqrt(squared);
  const double distance = shape.inside ? limit - far : far - limit;
  if (distance >= 0 || far == 0) return {};
  return ((shape.inside ? distance : -distance) / far) * way;
}

struct Scratch {
  std::vector<Affine> worlds;
  std::vector<Placed> shapes;

  explicit Scratch(const System& system) : worlds(system.parents.size()), shapes(system.colliders.size()) {}
};

// One frame of one motion.
struct Frame {
  const Motion& motion;
  const double* t;
  double* q;
  const double* s;
  std::vector<Affine>& worlds;
  std::vector<Placed>& shapes;
  std::size_t known = 0;  // colliders that have been placed, the first of `colliders_by_node`

  Frame(const Motion& m, std::int64_t frame, Scratch& scratch)
      : motion(m), worlds(scratch.worlds), shapes(scratch.shapes) {
    const auto first = frame * static_cast<std::int64_t>(m.system->parents.size());
    t = m.translations + 3 * first;
    q = m.rotations + 4 * first;
    s = m.scales + 3 * first;
  }

  Affine at(std::int32_t node) const { return local(t + 3 * node, q + 4 * node, s + 3 * node); }
  const Affine& world(std::int32_t node) const { return worlds[static_cast<std::size_t>(node)]; }
  void set_turn(std::int32_t node, const Quaternion& turn) const { std::copy(turn.begin(), turn.end(), q + 4 * node); }

  Affine below_parent(std::int32_t node, const Affine& matrix) const {
    const std::int32_t parent = motion.system->parents[static_cast<std::size_t>(node)];
    return parent < 0 ? matrix : world(parent) * matrix;
  }

  // Where the tail is, with the joint at rest.
  Vector resting_tail(const Joint& joint) const {
    Vector tail = joint.tail;
    for (const std::int32_t node : joint.path) tail = moved(at(node), tail);
    return moved(below_parent(joint.node, local(t + 3 * joint.node, joint.turn.data(), s + 3 * joint.node)), tail);
  }

  Vector head(const Joint& joint) const {
    const double* const own = t + 3 * joint.node;
    const Vector place{own[0], own[1], own[2]};
    const std::int32_t parent = motion.system->parents[static_cast<std::size_t>(joint.node)];
    return parent < 0 ? place : moved(world(parent), place);
  }

  void start(const Joint& joint, double* now, double* before) const {
    set_turn(joint.node, joint.turn);
    Vector tail = resting_tail(joint);
    if (joint.center >= 0) tail = moved_back(world(joint.center), tail);
    std::copy(tail.begin(), tail.end(), now);
    std::copy(tail.begin(), tail.end(), before);
  }

  void step(const Joint& joint, double* now, double* before, double dt) const {
    set_turn(joint.node, joint.turn);
    const Vector start = head(joint);
    const double reach = length(resting_tail(joint) - start);
    const Affine rest = below_parent(joint.node, joint.rest);
    const Vector current{now[0], now[1], now[2]}, previous{before[0], before[1], before[2]};
    Vector next = current + (1 - joint.drag) * (current - previous);
    if (joint.center >= 0) next = moved(world(joint.center), next);
    next = next + (dt * joint.stiffness) * unit(turned(rest, joint.axis)) + dt * joint.gravity;
    next = start + reach * unit(next - start);
    const System& system = *motion.system;
    for (const std::int32_t i : system.springs[static_cast<std::size_t>(joint.spring)]) {
      const auto at = static_cast<std::size_t>(i);
      if (static_cast<std::size_t>(system.collider_ranks[at]) >= known) continue;
      const Vector out = push(system.colliders[at], shapes[at], next, joint.radius);
      if (dot(out, out) > 0) next = start + reach * unit(next + out - start);
    }
    const Vector kept = joint.center >= 0 ? moved_back(world(joint.center), next) : next;
    std::copy(current.begin(), current.end(), before);
    std::copy(kept.begin(), kept.end(), now);
    const Vector way = unit(moved_back(rest, next));
    if (dot(way, way) > 0) set_turn(joint.node, joint.turn * between(joint.axis, way));
  }

  // Visits every node with its ancestors done; `swing` sets the rotations of joints.
  template <class Swing>
  void walk(const Swing& swing) {
    const System& system = *motion.system;
    const std::size_t joints = system.joints.size();
    for (const std::int32_t node : system.order) {
      const std::int32_t joint = system.joint_of[static_cast<std::size_t>(node)];
      if (joint >= 0) {
        double* const now = motion.tails + 3 * joint;
        swing(system.joints[static_cast<std::size_t>(joint)], now, now + 3 * joints);
      }
      Affine& world = worlds[static_cast<std::size_t>(node)];
      world = below_parent(node, at(node));
      for (; known < system.colliders_by_node.size(); ++known) {
        const auto i = static_cast<std::size_t>(system.colliders_by_node[known]);
        if (system.colliders[i].node != node) break;
        shapes[i] = placed(system.colliders[i], world);
      }
    }
  }
};

}  // namespace

void start(const Motion& motion) {
  Scratch scratch(*motion.system);
  Frame frame(motion, 0, scratch);
  frame.walk([&](const Joint& joint, double* now, double* before) { frame.start(joint, now, before); });
}

void run(const Motion& motion, double dt) {
  Scratch scratch(*motion.system);
  for (std::int64_t i = 0; i < motion.frames; ++i) {
    Frame frame(motion, i, scratch);
    frame.walk([&](const Joint& joint, double* now, double* before) { frame.step(joint, now, before, dt); });
  }
}

}  // namespace bunraku::springs
