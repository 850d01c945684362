#pragma once
// A ray against the eight primitives of a packet: who is hit, how far along, and where on it.
//
// Triangles: the watertight test of Woop, Benthin and Wald (JCGT 2013). The vertices are sheared
// so that the ray becomes the z axis; two triangles that share an edge compute its edge function
// from the same numbers, so no ray passes between them. An edge function that rounds to zero is
// computed again in double, where products of floats are exact, so every sign is true.
// Needs -ffp-contract=off.

#include "bvh/ray.hpp"

namespace bunraku::BUNRAKU_LEVEL::bvh {

// One accepted lane. `facing` is +1 where the triangle is seen from its front, where its
// corners run counter-clockwise, -1 from behind.
struct Hit {
  float t, u, v;
  std::int32_t primitive;
  std::int32_t packet, lane;
  int facing;
};

struct Lanes {
  unsigned hit;                                  // one bit per accepted lane, before t_min and t_max
  alignas(32) float t[kWidth], u[kWidth], v[kWidth];
  unsigned front;
};

// Vertices relative to the origin: corner, then axis in the ray's turned order x, y, z.
typedef Eight Relative[3][3];

BUNRAKU_INLINE double edge(float ax, float ay, float bx, float by) {
  return static_cast<double>(ax) * by - static_cast<double>(ay) * bx;
}

// Sign of an edge function for a ray moved aside by (e, e * e) in the limit e -> 0: an edge then
// belongs to exactly one of its two triangles, and a crossing of a closed surface counts once.
BUNRAKU_INLINE int strict_sign(double exact, float ax, float ay, float bx, float by) {
  if (exact != 0) return exact > 0 ? 1 : -1;
  if (ay != by) return ay > by ? 1 : -1;
  return bx > ax ? 1 : bx < ax ? -1 : 0;
}

// Where an edge function is zero in float32: the verdict and the weights in double.
template <bool kStrict>
inline __attribute__((noinline)) bool decide_exactly(const float* ax, const float* ay, const float* bx,
                                                     const float* by, const float* cx, const float* cy,
                                                     int i, float (&weight)[3], bool& front) {
  const double u = edge(cx[i], cy[i], bx[i], by[i]);
  const double v = edge(ax[i], ay[i], cx[i], cy[i]);
  const double w = edge(bx[i], by[i], ax[i], ay[i]);
  const double sum = u + v + w;
  if constexpr (kStrict) {
    const int su = strict_sign(u, cx[i], cy[i], bx[i], by[i]);
    const int sv = strict_sign(v, ax[i], ay[i], cx[i], cy[i]);
    const int sw = strict_sign(w, bx[i], by[i], ax[i], ay[i]);
    if (su == 0 || su != sv || su != sw) return false;
  } else if (!((u >= 0 && v >= 0 && w >= 0) || (u <= 0 && v <= 0 && w <= 0))) {
    return false;
  }
  if (sum == 0) return false;
  front = sum > 0;
  weight[0] = static_cast<float>(u / sum);
  weight[1] = static_cast<float>(v / sum);
  weight[2] = static_cast<float>(w / sum);
  return true;
}

// The corners minus the ray's origin were rounded once. NaN lanes are never hit.
template <bool kStrict>
BUNRAKU_INLINE void test_triangles(const Relative& relative, const Ray& ray, Lanes& out) {
  const Eight shear_x = splat(ray.shear_x), shear_y = splat(ray.shear_y);
  const auto &a = relative[0], &b = relative[1], &c = relative[2];
  const Eight ax = a[0] - shear_x * a[2], ay = a[1] - shear_y * a[2];
  const Eight bx = b[0] - shear_x * b[2], by = b[1] - shear_y * b[2];
  const Eight cx = c[0] - shear_x * c[2], cy = c[1] - shear_y * c[2];
  const Eight u = cx * by - cy * bx;
  const Eight v = ax * cy - ay * cx;
  const Eight w = bx * ay - by * ax;
  const Eight low = min(min(u, v), w), high = max(max(u, v), w);
  const Mask inside = (low >= 0) | (high <= 0);
  out.hit = bits(inside);
  if (out.hit == 0) return;

  const Eight sum = u + v + w;
  Eight share = 1 / sum;
  Eight u_weight = u * share, v_weight = v * share, w_weight = w * share;
  out.front = bits(sum > 0);
  unsigned doubtful = bits(inside & ((low == 0) | (high == 0)));
  if (doubtful != 0) {
    alignas(32) float flat[6][kWidth], weights[3][kWidth];
    store(flat[0], ax), store(flat[1], ay), store(flat[2], bx);
    store(flat[3], by), store(flat[4], cx), store(flat[5], cy);
    store(weights[0], u_weight), store(weights[1], v_weight), store(weights[2], w_weight);
    for (; doubtful != 0; doubtful &= doubtful - 1) {
      const int i = lowest(doubtful);
      float weight[3];
      bool front;
      if (decide_exactly<kStrict>(flat[0], flat[1], flat[2], flat[3], flat[4], flat[5], i, weight, front)) {
        for (int k = 0; k < 3; ++k) weights[k][i] = weight[k];
        out.front = (out.front & ~(1u << i)) | static_cast<unsigned>(front) << i;
      } else {
        out.hit &= ~(1u << i);
      }
    }
    if (out.hit == 0) return;
    u_weight = load(weights[0]), v_weight = load(weights[1]), w_weight = load(weights[2]);
  }

  // The triangle's own box, widened, in depths along the ray; see the margins in ray.hpp.
  Eight low_corner[3], high_corner[3], largest{};
  for (int k = 0; k < 3; ++k) {
    low_corner[k] = min(min(a[k], b[k]), c[k]);
    high_corner[k] = max(max(a[k], b[k]), c[k]);
    largest = max(largest, max(-low_corner[k], high_corner[k]));
  }
  const Eight margin = largest * kPrimitiveMargin;
  Eight enter = splat(-kInfinity), leave = splat(kInfinity);
  const int axes[3] = {ray.x, ray.y, ray.z};
  for (int k = 0; k < 3; ++k) {
    const Eight inverse = splat(ray.inverse[axes[k]]);
    const Eight one = (low_corner[k] - margin) * inverse, other = (high_corner[k] + margin) * inverse;
    enter = max(enter, min(one, other));
    leave = min(leave, max(one, other));
  }
  out.hit &= bits(enter <= leave);
  const Eight along = u_weight * a[2] + v_weight * b[2] + w_weight * c[2];
  const Eight depth = ray.direction[ray.z] < 0 ? -along : along;
  store(out.t, min(max(depth, enter), leave) / splat(ray.scale));
  store(out.u, v_weight);
  store(out.v, w_weight);
}

// Boxes and spheres are surfaces too: a ray from inside meets them where it leaves. A ray that
// runs in a face, or touches an edge, meets the box.
BUNRAKU_INLINE void test_boxes(const Packet& packet, const Ray& ray, Lanes& out) {
  Eight enter = splat(-kInfinity), leave = splat(kInfinity);
  for (int k = 0; k < 3; ++k) {
    const Eight low = load(packet.data[k]) - ray.origin[k], high = load(packet.data[3 + k]) - ray.origin[k];
    if (ray.direction[k] == 0) {
      const Mask beside = ~((low <= 0) & (high >= 0));
      enter = beside ? splat(kInfinity) : enter;
      continue;
    }
    const Eight one = low / splat(ray.direction[k]), other = high / splat(ray.direction[k]);
    enter = max(min(one, other), enter);
    leave = min(max(one, other), leave);
  }
  const Mask ahead = enter >= ray.t_min;
  const Eight t = ahead ? enter : leave;
  out.hit = bits((enter <= leave) & (load(packet.data[0]) <= load(packet.data[3])));
  out.front = bits(ahead);
  store(out.t, t);
  store(out.u, Eight{});
  store(out.v, Eight{});
}

// In double, where the discriminant of a grazing ray is still good for a float32.
inline void test_spheres(const Packet& packet, const Ray& ray, Lanes& out) {
  out.hit = out.front = 0;
  for (int i = 0; i < kWidth; ++i) {
    out.u[i] = out.v[i] = 0;
    double dd = 0, dm = 0, m[3], perpendicular = 0;
    for (int k = 0; k < 3; ++k) {
      const double d = ray.direction[k];
      m[k] = static_cast<double>(packet.data[k][i]) - ray.origin[k];
      dd += d * d;
      dm += d * m[k];
    }
    const double middle = dm / dd, radius = packet.data[3][i];
    for (int k = 0; k < 3; ++k) {
      const double off = m[k] - middle * ray.direction[k];
      perpendicular += off * off;
    }
    const double square = radius * radius - perpendicular;
    if (!(square >= 0)) continue;
    const double half = __builtin_sqrt(square / dd);
    const float enter = static_cast<float>(middle - half), leave = static_cast<float>(middle + half);
    out.hit |= 1u << i;
    out.front |= static_cast<unsigned>(enter >= ray.t_min) << i;
    out.t[i] = enter >= ray.t_min ? enter : leave;
  }
}

template <Kind kKind, bool kStrict = false>
BUNRAKU_INLINE void test(const Packet& packet, const Ray& ray, Lanes& out) {
  if constexpr (kKind == Kind::triangles) {
    Relative relative;
    const int axes[3] = {ray.x, ray.y, ray.z};
    for (int k = 0; k < 3; ++k) {
      const Eight origin = splat(ray.origin[axes[k]]);
      for (int corner = 0; corner < 3; ++corner) {
        relative[corner][k] = load(packet.data[3 * corner + axes[k]]) - origin;
      }
    }
    test_triangles<kStrict>(relative, ray, out);
  } else if constexpr (kKind == Kind::boxes) {
    test_boxes(packet, ray, out);
  } else {
    test_spheres(packet, ray, out);
  }
}

// Calls accept(Hit) for every lane of the packet that exists for the ray and lies within [t_min, t_max].
template <Kind kKind, bool kStrict, typename Accept>
BUNRAKU_INLINE void visit_hits(const TreeView& tree, std::int32_t index, const Ray& ray, Accept accept) {
  const Packet& packet = tree.packets[index];
  Lanes lanes;
  test<kKind, kStrict>(packet, ray, lanes);
  for (unsigned left = lanes.hit; left != 0; left &= left - 1) {
    const int i = lowest(left);
    const bool front = (lanes.front >> i & 1) != 0;
    const float t = lanes.t[i];
    if (!(t >= ray.t_min && t <= ray.t_max && magnitude(t) < kInfinity)) continue;
    if (packet.primitive[i] == ray.skip || (ray.front_only && !front)) continue;
    accept(Hit{t, lanes.u[i], lanes.v[i], packet.primitive[i], index, i, front ? 1 : -1});
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::bvh
