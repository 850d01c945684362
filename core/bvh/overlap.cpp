#include "bvh/overlap.hpp"

#include <algorithm>
#include <cmath>

namespace bunraku::bvh {
namespace {

using Vector = double[3];

void cross(const Vector& a, const Vector& b, Vector& out) {
  for (int k = 0; k < 3; ++k) out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Separating axes (Akenine-Möller 2001), but for the box's own: one of the triangle, nine of edge pairs.
bool triangle_meets_box(const Vector (&corner)[3], const Vector& half) {
  const auto apart = [&](const Vector& axis) {
    const double p[3] = {dot(corner[0], axis), dot(corner[1], axis), dot(corner[2], axis)};
    double reach = 0;
    for (int k = 0; k < 3; ++k) reach += half[k] * std::fabs(axis[k]);
    return std::min({p[0], p[1], p[2]}) > reach || std::max({p[0], p[1], p[2]}) < -reach;
  };
  Vector edge[3], axis;
  for (int e = 0; e < 3; ++e) {
    for (int k = 0; k < 3; ++k) edge[e][k] = corner[(e + 1) % 3][k] - corner[e][k];
  }
  for (int k = 0; k < 3; ++k) {
    Vector unit{};
    unit[k] = 1;
    for (const Vector& e : edge) {
      cross(unit, e, axis);
      if (apart(axis)) return false;
    }
  }
  cross(edge[0], edge[1], axis);
  return !apart(axis);
}

double square_to_box(const Vector& point, const Vector& low, const Vector& high) {
  double square = 0;
  for (int k = 0; k < 3; ++k) {
    const double gap = std::max({low[k] - point[k], point[k] - high[k], 0.0});
    square += gap * gap;
  }
  return square;
}

// Of the origin to a triangle.
double square_to_triangle(const Vector (&corner)[3]) {
  double best = dot(corner[0], corner[0]);
  Vector edge[3], normal, side;
  for (int e = 0; e < 3; ++e) {
    const Vector& from = corner[e];
    for (int k = 0; k < 3; ++k) edge[e][k] = corner[(e + 1) % 3][k] - from[k];
    const double along = -dot(from, edge[e]), length = dot(edge[e], edge[e]);
    const double share = along > 0 && length > 0 ? std::min(along / length, 1.0) : 0.0;
    Vector at;
    for (int k = 0; k < 3; ++k) at[k] = from[k] + share * edge[e][k];
    best = std::min(best, dot(at, at));
  }
  cross(edge[0], edge[1], normal);
  const double area = dot(normal, normal);
  bool above = area > 0;
  for (int e = 0; e < 3 && above; ++e) {
    cross(normal, edge[e], side);
    above = -dot(corner[e], side) >= 0;
  }
  if (above) {
    const double height = dot(corner[0], normal);
    best = std::min(best, height * height / area);
  }
  return best;
}

// Calls test(packet, lane) for every primitive below boxes for which reaches(low, high) holds.
template <typename Reaches, typename Test>
std::vector<std::int32_t> collect(const TreeView& tree, Reaches reaches, Test test) {
  std::vector<std::int32_t> found;
  if (tree.root == kEmpty) return found;
  std::vector<std::int32_t> stack{tree.root};
  const double slack = 4 * 0x1p-24 * tree.reach;  // boxes are rounded relative to the centre
  while (!stack.empty()) {
    const std::int32_t current = stack.back();
    stack.pop_back();
    if (current < 0) {
      const Packet& packet = tree.packets[~current];
      for (int i = 0; i < kWidth; ++i) {
        if (packet.primitive[i] >= 0 && packet.data[0][i] == packet.data[0][i] && test(packet, i)) {
          found.push_back(packet.primitive[i]);
        }
      }
      continue;
    }
    const Node& node = tree.nodes[current];
    for (int i = 0; i < kWidth; ++i) {
      if (node.child[i] == kEmpty) continue;
      Vector low, high;
      for (int k = 0; k < 3; ++k) {
        low[k] = static_cast<double>(node.plane[k][0][i]) + tree.centre[k] - slack;
        high[k] = static_cast<double>(node.plane[k][1][i]) + tree.centre[k] + slack;
      }
      if (reaches(low, high)) stack.push_back(node.child[i]);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void corners_of(const Packet& packet, int lane, const Vector& origin, Vector (&corner)[3]) {
  for (int c = 0; c < 3; ++c) {
    for (int k = 0; k < 3; ++k) corner[c][k] = packet.data[3 * c + k][lane] - origin[k];
  }
}

// The box of a triangle is tested before the triangle, by numbers that nothing was subtracted from: a test
// that a huge query rounds away never says more than the nodes do, whatever the tree.
void box_of_triangle(const Packet& packet, int lane, Vector& low, Vector& high) {
  for (int k = 0; k < 3; ++k) {
    const double a = packet.data[k][lane], b = packet.data[3 + k][lane], c = packet.data[6 + k][lane];
    low[k] = std::min({a, b, c}), high[k] = std::max({a, b, c});
  }
}

void box_of(const Packet& packet, int lane, Vector& low, Vector& high) {
  for (int k = 0; k < 3; ++k) low[k] = packet.data[k][lane], high[k] = packet.data[3 + k][lane];
}

void ball_of(const Packet& packet, int lane, Vector& centre, double& radius) {
  for (int k = 0; k < 3; ++k) centre[k] = packet.data[k][lane];
  radius = packet.data[3][lane];
}

}  // namespace

std::vector<std::int32_t> overlap_box(const TreeView& tree, const float* low, const float* high) {
  Vector middle, half, from, to;
  for (int k = 0; k < 3; ++k) {
    from[k] = low[k], to[k] = high[k];
    middle[k] = (from[k] + to[k]) / 2;
    half[k] = (to[k] - from[k]) / 2;
  }
  const auto reaches = [&](const Vector& a, const Vector& b) {
    bool all = true;
    for (int k = 0; k < 3; ++k) all = all && a[k] <= to[k] && b[k] >= from[k];
    return all;
  };
  return collect(tree, reaches, [&](const Packet& packet, int lane) {
    Vector corner[3], centre, other_low, other_high;
    double radius;
    switch (tree.kind) {
      case Kind::triangles:
        box_of_triangle(packet, lane, other_low, other_high);
        corners_of(packet, lane, middle, corner);
        return reaches(other_low, other_high) && triangle_meets_box(corner, half);
      case Kind::boxes: box_of(packet, lane, other_low, other_high); return reaches(other_low, other_high);
      default: ball_of(packet, lane, centre, radius); return square_to_box(centre, from, to) <= radius * radius;
    }
  });
}

std::vector<std::int32_t> overlap_ball(const TreeView& tree, const float* centre, float radius) {
  const Vector middle{centre[0], centre[1], centre[2]};
  const double square = static_cast<double>(radius) * radius;
  const auto reaches = [&](const Vector& a, const Vector& b) { return square_to_box(middle, a, b) <= square; };
  return collect(tree, reaches, [&](const Packet& packet, int lane) {
    Vector corner[3], other, low, high;
    double its_radius;
    switch (tree.kind) {
      case Kind::triangles:
        box_of_triangle(packet, lane, low, high);
        corners_of(packet, lane, middle, corner);
        return reaches(low, high) && square_to_triangle(corner) <= square;
      case Kind::boxes: box_of(packet, lane, low, high); return reaches(low, high);
      default:
        ball_of(packet, lane, other, its_radius);
        for (int k = 0; k < 3; ++k) other[k] -= middle[k];
        return dot(other, other) <= (its_radius + radius) * (its_radius + radius);
    }
  });
}

}  // namespace bunraku::bvh
