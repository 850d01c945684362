#pragma once
// From blended records to positions, normals and tangents; the same for every batch layout.

#include "skinning/rescue.hpp"
#include "skinning/rest.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

// Where results go: kLanes floats for each of 3, 3 and 4 components. Not vectors, so that what
// is not wanted need not exist.
struct Surface {
  float* position;
  float* normal;
  float* tangent;
};

namespace detail {

BUNRAKU_INLINE void cross(const Vec* a, const Vec* b, Vec* r) {
  r[0] = a[1] * b[2] - a[2] * b[1];
  r[1] = a[2] * b[0] - a[0] * b[2];
  r[2] = a[0] * b[1] - a[1] * b[0];
}

BUNRAKU_INLINE Vec dot(const Vec* a, const Vec* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

BUNRAKU_INLINE Vec larger(const Vec& a, const Vec& b) { return a > b ? a : b; }

// v = S·v for the symmetric S (xx, yy, zz, xy, xz, yz). Where no joint stretches, S is a multiple
// of the identity and the short way gives the same bits.
BUNRAKU_INLINE void stretched(bool stretches, const Vec (&s)[6], Vec* v) {
  if (stretches) {
    const Vec x = v[0], y = v[1], z = v[2];
    v[0] = s[0] * x + s[3] * y + s[4] * z;
    v[1] = s[3] * x + s[1] * y + s[5] * z;
    v[2] = s[4] * x + s[5] * y + s[2] * z;
  } else {
    for (int k = 0; k < 3; ++k) v[k] *= s[0];
  }
}

// Opposite directions that cancel give the one with the larger share.
BUNRAKU_INLINE void mix_directions(const Vec& share, const float* b, float* a) {
  Vec from[3], to[3], sum[3];
  for (int k = 0; k < 3; ++k) {
    from[k] = load(a + k * kLanes);
    to[k] = load(b + k * kLanes);
    sum[k] = share * to[k] + (1 - share) * from[k];
  }
  const Vec square = dot(sum, sum);
  const Vec inverse = 1 / sqrt(square);
  const Mask fine = square > 1e-10f;
  for (int k = 0; k < 3; ++k) {
    store(a + k * kLanes, fine ? sum[k] * inverse : (share < 0.5f ? from[k] : to[k]));
  }
}

}  // namespace detail

// Normals and tangents leave with unit length (zero stays zero). `norms` is the squared norm of
// the heaviest joint's 3×3 part, `a` the rows of the blend's: both only judge and rescue. `det`
// is the blend's determinant: cofactors turn normals round under a mirror, which inverse
// transposes do not; a normal that pointed out of a body must still do so.
// Bounds keep the squares clear of denormals and infinity.
inline constexpr float kSmall = 1e-30f, kLarge = 1e30f;
inline constexpr float kSquare = static_cast<float>(kCollapsed * kCollapsed);

template <typename Rest>
BUNRAKU_INLINE void finish_normals(const DeformJob& job, const Vec (&n)[3], const Vec& det,
                                   const Vec (&a)[9], const Vec& norms, const Rest& rest,
                                   const Sites& sites, const Surface& out) {
  const Vec square = detail::dot(n, n);
  // A flattened blend has a determinant of rounding errors: it counts as no mirror.
  const Mask mirrored = (det < 0) & (det * det > kSquare * norms * norms * norms);
  const Vec inverse = negate_where(mirrored, 1 / sqrt(square));
  for (int k = 0; k < 3; ++k) store(out.normal + k * kLanes, n[k] * inverse);
  const Mask fine =
      (square > detail::larger(kSquare * norms * norms, splat(kSmall))) & (square < kLarge);
  const unsigned bad = ~bits(fine) & kAllBits;
  if (__builtin_expect(bad == 0, 1)) return;
  Vec kept[12];  // a copy made here only: indexing `a` by lane would keep it out of registers
  for (int k = 0; k < 9; ++k) kept[k] = a[k];
  for (int k = 0; k < 3; ++k) kept[9 + k] = rest.normal(k);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((bad >> lane & 1) == 0) continue;
    double blend[9], from[3], normal[3];
    for (int k = 0; k < 9; ++k) blend[k] = kept[k][lane];
    for (int k = 0; k < 3; ++k) from[k] = kept[9 + k][lane];
    rescue_normal(job, sites.at(lane), blend, from, normal);
    for (int k = 0; k < 3; ++k) out.normal[k * kLanes + lane] = static_cast<float>(normal[k]);
  }
}

template <typename Rest>
BUNRAKU_INLINE void finish_tangents(const DeformJob& job, const Vec (&t)[3], const Vec& det,
                                    const Vec (&a)[9], const Vec& norms, const Rest& rest,
                                    const Sites& sites, const Surface& out) {
  const Vec square = detail::dot(t, t);
  const Vec inverse = 1 / sqrt(square);
  for (int k = 0; k < 3; ++k) store(out.tangent + k * kLanes, t[k] * inverse);
  store(out.tangent + 3 * kLanes, negate_where(det < 0, rest.tangent(3)));
  const Vec volume = det * det;
  const Mask fine =
      (square > detail::larger(kSquare * norms, splat(kSmall))) & (square < kLarge) &
      (volume > detail::larger(kSquare * norms * norms * norms, splat(kSmall))) & (volume < kLarge);
  const unsigned bad = ~bits(fine) & kAllBits;
  if (__builtin_expect(bad == 0, 1)) return;
  Vec kept[13];
  for (int k = 0; k < 9; ++k) kept[k] = a[k];
  for (int k = 0; k < 4; ++k) kept[9 + k] = rest.tangent(k);
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((bad >> lane & 1) == 0) continue;
    double blend[9], from[4], tangent[4];
    for (int k = 0; k < 9; ++k) blend[k] = kept[k][lane];
    for (int k = 0; k < 4; ++k) from[k] = kept[9 + k][lane];
    rescue_tangent(job, sites.at(lane), blend, from, tangent);
    for (int k = 0; k < 4; ++k) out.tangent[k * kLanes + lane] = static_cast<float>(tangent[k]);
  }
}

// Position by the blended 3×4 rows; the order of the sums is part of the result.
BUNRAKU_INLINE void place(const Vec (&m)[12], const Vec (&p)[3], float* out) {
  for (int i = 0; i < 3; ++i) {
    const Vec* row = m + 4 * i;
    store(out + i * kLanes, row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]);
  }
}

// The 3×4 rows of a blended dual quaternion, normalised by its real part.
BUNRAKU_INLINE void rigid_rows(const Vec (&q)[8], Vec (&m)[12]) {
  const Vec &x = q[0], &y = q[1], &z = q[2], &w = q[3];
  const Vec &dx = q[4], &dy = q[5], &dz = q[6], &dw = q[7];
  const Vec s = 2 / (x * x + y * y + z * z + w * w);
  const Vec xs = x * s, ys = y * s, zs = z * s, ws = w * s;
  const Vec xx = x * xs, yy = y * ys, zz = z * zs;
  const Vec xy = x * ys, xz = x * zs, yz = y * zs;
  const Vec wx = w * xs, wy = w * ys, wz = w * zs;
  m[0] = 1 - (yy + zz);
  m[1] = xy - wz;
  m[2] = xz + wy;
  m[3] = ws * dx - dw * xs + ys * dz - zs * dy;
  m[4] = xy + wz;
  m[5] = 1 - (xx + zz);
  m[6] = yz - wx;
  m[7] = ws * dy - dw * ys + zs * dx - xs * dz;
  m[8] = xz - wy;
  m[9] = yz + wx;
  m[10] = 1 - (xx + yy);
  m[11] = ws * dz - dw * zs + xs * dy - ys * dx;
}

// Linear blend: everything by the blended matrix; normals by its inverse transpose, out of
// cofactors, so that non-uniform scale is right and a singular blend no division by zero.
template <bool kOriented, typename Rest>
BUNRAKU_INLINE void linear_surface(const DeformJob& job, const Vec (&m)[12], const Vec& norms,
                                   const Rest& rest, const Sites& sites, const Surface& out) {
  const Vec p[3] = {rest.position(0), rest.position(1), rest.position(2)};
  place(m, p, out.position);
  if (!kOriented) return;
  const Vec a[9] = {m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]};
  const Vec c0[3] = {a[0], a[3], a[6]}, c1[3] = {a[1], a[4], a[7]}, c2[3] = {a[2], a[5], a[8]};
  Vec k0[3], k1[3], k2[3], r[3];
  detail::cross(c1, c2, k0);
  const Vec det = detail::dot(c0, k0);
  if (job.normals != nullptr) {
    detail::cross(c2, c0, k1);
    detail::cross(c0, c1, k2);
    for (int k = 0; k < 3; ++k) {
      r[k] = k0[k] * rest.normal(0) + k1[k] * rest.normal(1) + k2[k] * rest.normal(2);
    }
    finish_normals(job, r, det, a, norms, rest, sites, out);
  }
  if (job.tangents != nullptr) {
    for (int k = 0; k < 3; ++k) {
      r[k] = c0[k] * rest.tangent(0) + c1[k] * rest.tangent(1) + c2[k] * rest.tangent(2);
    }
    finish_tangents(job, r, det, a, norms, rest, sites, out);
  }
}

// Dual quaternions: the blended stretch first, then the blended rigid motion.
template <bool kOriented, typename Rest>
BUNRAKU_INLINE void dual_surface(const DeformJob& job, const Vec (&q)[8], const Vec (&s)[6],
                                 bool stretches, const Vec& norms, const Rest& rest,
                                 const Sites& sites, const Surface& out) {
  Vec m[12];
  rigid_rows(q, m);
  const Vec &xx = s[0], &yy = s[1], &zz = s[2], &xy = s[3], &xz = s[4], &yz = s[5];
  Vec p[3] = {rest.position(0), rest.position(1), rest.position(2)};
  detail::stretched(stretches, s, p);
  place(m, p, out.position);
  if (!kOriented) return;
  Vec a[9], r[3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) a[3 * i + j] = m[4 * i + j];
    detail::stretched(stretches, s, a + 3 * i);
  }
  const Vec k[6] = {yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy,
                    yz * xz - xy * zz, xy * yz - yy * xz, xy * xz - xx * yz};
  const Vec det = xx * k[0] + xy * k[3] + xz * k[4];
  if (job.normals != nullptr) {
    Vec n[3] = {rest.normal(0), rest.normal(1), rest.normal(2)};
    detail::stretched(stretches, k, n);
    for (int i = 0; i < 3; ++i) r[i] = m[4 * i] * n[0] + m[4 * i + 1] * n[1] + m[4 * i + 2] * n[2];
    finish_normals(job, r, det, a, norms, rest, sites, out);
  }
  if (job.tangents != nullptr) {
    Vec t[3] = {rest.tangent(0), rest.tangent(1), rest.tangent(2)};
    detail::stretched(stretches, s, t);
    for (int i = 0; i < 3; ++i) r[i] = m[4 * i] * t[0] + m[4 * i + 1] * t[1] + m[4 * i + 2] * t[2];
    finish_tangents(job, r, det, a, norms, rest, sites, out);
  }
}

// a = share · b + (1 − share) · a, directions brought back to unit length.
template <bool kOriented>
BUNRAKU_INLINE void mix(const DeformJob& job, const Vec& share, const Surface& b, const Surface& a) {
  for (int k = 0; k < 3; ++k) {
    const Vec from = load(a.position + k * kLanes), to = load(b.position + k * kLanes);
    store(a.position + k * kLanes, share * to + (1 - share) * from);
  }
  if (!kOriented) return;
  if (job.normals != nullptr) detail::mix_directions(share, b.normal, a.normal);
  if (job.tangents != nullptr) {
    detail::mix_directions(share, b.tangent, a.tangent);
    const Vec from = load(a.tangent + 3 * kLanes), to = load(b.tangent + 3 * kLanes);
    store(a.tangent + 3 * kLanes, share < 0.5f ? from : to);
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
