#pragma once
// New positions into an old tree: packets from the source, boxes from the packets.

#include "bvh/lanes.hpp"
#include "bvh/node.hpp"

namespace bunraku::BUNRAKU_LEVEL::bvh {

using namespace bunraku::bvh;

BUNRAKU_INLINE Quad point_at(const float* points, std::int64_t index) {
  const float* p = points + 3 * index;
  return Quad{p[0], p[1], p[2], 0};
}

BUNRAKU_INLINE Quad smaller(const Quad& a, const Quad& b) { return a < b ? a : b; }
BUNRAKU_INLINE Quad larger(const Quad& a, const Quad& b) { return a > b ? a : b; }

BUNRAKU_INLINE bool usable(const Quad& low, const Quad& high, const Quad& checksum) {
  const float sum = checksum[0] + checksum[1] + checksum[2];
  if (!(sum - sum == 0)) return false;  // NaN hides from comparisons, not from a sum
  for (int k = 0; k < 3; ++k) {
    if (!(low[k] >= -kLargest && high[k] <= kLargest)) return false;
  }
  return true;
}

struct Box {
  Quad low = Quad{} + __builtin_inff();
  Quad high = Quad{} - __builtin_inff();
};

// Eight points to three rows of eight coordinates.
BUNRAKU_INLINE void store_columns(float (*rows)[kWidth], const Quad (&p)[kWidth]) {
  for (int half = 0; half < 8; half += 4) {
    const Quad a = __builtin_shufflevector(p[half], p[half + 1], 0, 4, 1, 5);
    const Quad b = __builtin_shufflevector(p[half + 2], p[half + 3], 0, 4, 1, 5);
    const Quad c = __builtin_shufflevector(p[half], p[half + 1], 2, 6, 3, 7);
    const Quad d = __builtin_shufflevector(p[half + 2], p[half + 3], 2, 6, 3, 7);
    *reinterpret_cast<Quad*>(rows[0] + half) = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    *reinterpret_cast<Quad*>(rows[1] + half) = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    *reinterpret_cast<Quad*>(rows[2] + half) = __builtin_shufflevector(c, d, 0, 1, 4, 5);
  }
}

inline Box fill_triangles(Packet& packet, const Corners& corners, const Source& source) {
  Quad corner[3][kWidth];
  Box box;
  for (int i = 0; i < kWidth; ++i) {
    Quad &a = corner[0][i], &b = corner[1][i], &c = corner[2][i];
    if (packet.primitive[i] >= 0) {
      a = point_at(source.points, corners.vertex[0][i]);
      b = point_at(source.points, corners.vertex[1][i]);
      c = point_at(source.points, corners.vertex[2][i]);
      const Quad low = smaller(smaller(a, b), c), high = larger(larger(a, b), c);
      if (usable(low, high, a + b + c)) {
        box.low = smaller(low, box.low);
        box.high = larger(high, box.high);
        continue;
      }
    }
    a = b = c = Quad{} + __builtin_nanf("");
  }
  for (int k = 0; k < 3; ++k) store_columns(packet.data + 3 * k, corner[k]);
  return box;
}

// A sphere's box, rounded outwards: far from the origin its radius may be less than a rounding step.
BUNRAKU_INLINE Box around(const Quad& centre, float radius) {
  const Quad low = centre - radius, high = centre + radius;
  const auto step = [](const Quad& x) { return (x < 0 ? -x : x) * 0x1p-23f + 0x1p-149f; };
  return {centre - low >= radius ? low : low - step(low), high - centre >= radius ? high : high + step(high)};
}

inline Box fill_extents(Packet& packet, const Source& source) {
  const bool spheres = source.kind == Kind::spheres;
  Box box;
  for (int i = 0; i < kWidth; ++i) {
    const std::int32_t primitive = packet.primitive[i];
    bool kept = false;
    if (primitive >= 0) {
      const Quad point = point_at(source.points, primitive);
      const float radius = spheres ? source.extents[primitive] : 0;
      const Box own = spheres ? around(point, radius) : Box{point, point_at(source.extents, primitive)};
      const Quad low = own.low, high = own.high;
      kept = usable(low, high, low + high) && radius >= 0;
      for (int k = 0; k < 3; ++k) kept = kept && low[k] <= high[k];
      if (kept) {
        box.low = smaller(low, box.low);
        box.high = larger(high, box.high);
        for (int k = 0; k < 3; ++k) packet.data[k][i] = point[k];
        if (spheres) packet.data[3][i] = radius;
        for (int k = 0; !spheres && k < 3; ++k) packet.data[3 + k][i] = high[k];
      }
    }
    for (int row = 0; !kept && row < 9; ++row) packet.data[row][i] = __builtin_nanf("");
  }
  return box;
}

inline Box fill(const TreeView& tree, const Source& source, std::int32_t packet) {
  Packet& to = tree.packets[packet];
  if (tree.kind != Kind::triangles) return fill_extents(to, source);
  if (tree.corners != nullptr) return fill_triangles(to, tree.corners[packet], source);
  Corners corners;
  for (int i = 0; i < kWidth; ++i) {
    const std::int64_t primitive = to.primitive[i];
    for (int c = 0; c < 3; ++c) corners.vertex[c][i] = primitive < 0 ? 0 : source.faces[3 * primitive + c];
  }
  return fill_triangles(to, corners, source);
}

inline void refit_packets(const TreeView& tree, const Source& source, std::int64_t begin, std::int64_t end) {
  for (std::int64_t n = begin; n < end; ++n) {
    Node& node = tree.nodes[n];
    for (int i = 0; i < kWidth; ++i) {
      const std::int32_t child = node.child[i];
      if (child >= 0 || child == kEmpty) continue;
      const Box box = fill(tree, source, ~child);
      for (int k = 0; k < 3; ++k) {
        node.plane[k][0][i] = box.low[k] - tree.centre[k];
        node.plane[k][1][i] = box.high[k] - tree.centre[k];
      }
    }
  }
}

inline void refit_nodes(const TreeView& tree) {
  for (std::int64_t n = tree.node_count - 1; n >= 0; --n) {
    Node& node = tree.nodes[n];
    for (int i = 0; i < kWidth; ++i) {
      if (node.child[i] < 0) continue;
      const Node& child = tree.nodes[node.child[i]];
      for (int k = 0; k < 3; ++k) {
        node.plane[k][0][i] = least(load(child.plane[k][0]));
        node.plane[k][1][i] = greatest(load(child.plane[k][1]));
      }
    }
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::bvh
