#pragma once
// The closest point of a tree's triangles to a point. Distances are compared in double, so the
// answer does not depend on the shape of the tree; node bounds are float32 with a margin.

#include "bvh/bvh.hpp"
#include "bvh/lanes.hpp"

namespace bunraku::BUNRAKU_LEVEL::bvh {

using namespace bunraku::bvh;

typedef double EightDoubles __attribute__((vector_size(64)));
typedef std::int64_t DoubleMask __attribute__((vector_size(64)));

struct Nearest {
  double square;                // of the distance
  float u, v;
  std::int32_t primitive, packet, lane;
};

BUNRAKU_INLINE EightDoubles share_of(const EightDoubles& part, const EightDoubles& whole) {
  const EightDoubles share = part / whole, none{}, all = none + 1;
  const EightDoubles positive = share > 0 ? share : none;  // 0/0 of a point-like edge is 0
  return positive < 1 ? positive : all;
}

typedef EightDoubles Point3[3];

BUNRAKU_INLINE EightDoubles dot(const Point3& a, const Point3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// Keeps the closest triangle of the packet if it beats `best`; of two as close, the lower index.
inline void nearest_in_packet(const Packet& packet, std::int32_t index, const float* point, Nearest& best) {
  Point3 a, ab, ac, bc, away;
  for (int k = 0; k < 3; ++k) {
    const EightDoubles corner = __builtin_convertvector(load(packet.data[k]), EightDoubles) - point[k];
    const EightDoubles second = __builtin_convertvector(load(packet.data[3 + k]), EightDoubles) - point[k];
    const EightDoubles third = __builtin_convertvector(load(packet.data[6 + k]), EightDoubles) - point[k];
    a[k] = corner, ab[k] = second - corner, ac[k] = third - corner, bc[k] = third - second;
    away[k] = -second;
  }
  const EightDoubles d1 = -dot(ab, a), d2 = -dot(ac, a);
  const EightDoubles bb = dot(ab, ab), cc = dot(ac, ac), bc_ = dot(ab, ac);
  const auto square_at = [&](const EightDoubles& u, const EightDoubles& v) {
    Point3 q;
    for (int k = 0; k < 3; ++k) q[k] = a[k] + u * ab[k] + v * ac[k];
    return dot(q, q);
  };
  EightDoubles u = share_of(d1, bb), v{}, square = square_at(u, v);
  const auto consider = [&](const EightDoubles& other_u, const EightDoubles& other_v, const DoubleMask& allowed) {
    const EightDoubles other = square_at(other_u, other_v);
    const DoubleMask better = allowed & (other < square);
    u = better ? other_u : u;
    v = better ? other_v : v;
    square = better ? other : square;
  };
  const DoubleMask always = (v == v);
  consider(EightDoubles{}, share_of(d2, cc), always);
  const EightDoubles along = share_of(dot(bc, away), dot(bc, bc));
  consider(1 - along, along, always);
  const EightDoubles area = bb * cc - bc_ * bc_;
  const EightDoubles flat_u = (cc * d1 - bc_ * d2) / area, flat_v = (bb * d2 - bc_ * d1) / area;
  consider(flat_u, flat_v, (area > 0) & (flat_u >= 0) & (flat_v >= 0) & (flat_u + flat_v <= 1));
  for (int i = 0; i < kWidth; ++i) {
    const std::int32_t primitive = packet.primitive[i];
    if (square[i] < best.square ||
        (square[i] == best.square && (best.primitive < 0 || primitive < best.primitive))) {
      best = {square[i], static_cast<float>(u[i]), static_cast<float>(v[i]), primitive, index, i};
    }
  }
}

struct WaitingNear {
  std::int32_t node;
  float square;
};

inline Nearest nearest_to(const TreeView& tree, const float* point, float max_distance) {
  Nearest best{static_cast<double>(max_distance) * max_distance, 0, 0, -1, 0, 0};
  float local[3], far = 0, sum = 0;
  for (int k = 0; k < 3; ++k) {
    local[k] = point[k] - tree.centre[k];
    far = magnitude(local[k]) > far ? magnitude(local[k]) : far;
    sum += point[k] - point[k];
  }
  if (!(sum == 0) || !(far <= 2 * kLargest) || !(max_distance >= 0) || tree.root == kEmpty) return best;
  const float margin = 8 * 0x1p-24f * (far + tree.reach);
  WaitingNear stack[kStack];
  WaitingNear* top = stack;
  *top++ = {tree.root, 0};
  while (top != stack) {
    const WaitingNear current = *--top;
    if (current.square > best.square) continue;
    if (current.node < 0) {
      nearest_in_packet(tree.packets[~current.node], ~current.node, point, best);
      continue;
    }
    const Node& node = tree.nodes[current.node];
    Eight squares{};
    for (int k = 0; k < 3; ++k) {
      const Eight below = load(node.plane[k][0]) - (local[k] + margin);
      const Eight above = (local[k] - margin) - load(node.plane[k][1]);
      const Eight gap = max(max(below, above), Eight{});
      squares += gap * gap;
    }
    squares *= 1 - 0x1p-20f;
    alignas(32) float square[kWidth];
    store(square, squares);
    WaitingNear* const bottom = top;
    for (int i = 0; i < kWidth; ++i) {
      if (node.child[i] == kEmpty || !(square[i] <= best.square)) continue;
      WaitingNear* j = top++;
      for (; j != bottom && j[-1].square < square[i]; --j) *j = j[-1];
      *j = {node.child[i], square[i]};
    }
  }
  return best;
}

inline void nearest(const TreeView& tree, const NearestJob& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    const float* point = job.points + 3 * i;
    const Nearest best = nearest_to(tree, point, job.max_distance.data[i * job.max_distance.stride]);
    const bool found = best.primitive >= 0;
    job.distance[i] = found ? static_cast<float>(__builtin_sqrt(best.square)) : __builtin_inff();
    job.primitive[i] = best.primitive;
    job.u[i] = best.u;
    job.v[i] = best.v;
    for (int k = 0; k < 3; ++k) {
      float& at = job.closest[3 * i + k];
      at = 0;
      if (!found) continue;
      const auto corner = [&](int c) { return static_cast<double>(tree.packets[best.packet].data[3 * c + k][best.lane]); };
      at = static_cast<float>(corner(0) + best.u * (corner(1) - corner(0)) + best.v * (corner(2) - corner(0)));
    }
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::bvh
