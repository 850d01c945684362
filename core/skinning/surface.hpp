#pragma once
// From blended records to positions, normals and tangents; the same for every batch layout.

#include "skinning/rescue.hpp"
#include "skinning/rest.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

struct Surface {
  Vec position[3], normal[3], tangent[4];
};

namespace detail {

BUNRAKU_INLINE void cross(const Vec* a, const Vec* b, Vec* r) {
  r[0] = a[1] * b[2] - a[2] * b[1];
  r[1] = a[2] * b[0] - a[0] * b[2];
  r[2] = a[0] * b[1] - a[1] * b[0];
}

BUNRAKU_INLINE Vec dot(const Vec* a, const Vec* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

BUNRAKU_INLINE Vec larger(const Vec& a, const Vec& b) { return a > b ? a : b; }

// out = S·v for the symmetric S (xx, yy, zz, xy, xz, yz).
BUNRAKU_INLINE void symmetric_times(const Vec (&s)[6], const Vec* v, Vec* out) {
  out[0] = s[0] * v[0] + s[3] * v[1] + s[4] * v[2];
  out[1] = s[3] * v[0] + s[1] * v[1] + s[5] * v[2];
  out[2] = s[4] * v[0] + s[5] * v[1] + s[2] * v[2];
}

// Opposite directions that cancel give the one with the larger share.
BUNRAKU_INLINE void mix_directions(const Vec& share, const Vec* b, Vec* a) {
  Vec sum[3];
  for (int k = 0; k < 3; ++k) sum[k] = share * b[k] + (1 - share) * a[k];
  const Vec square = dot(sum, sum);
  const Vec inverse = 1 / sqrt(square);
  const Mask fine = square > 1e-10f;
  for (int k = 0; k < 3; ++k) a[k] = fine ? sum[k] * inverse : (share < 0.5f ? a[k] : b[k]);
}

}  // namespace detail

// Normals and tangents leave with unit length (zero stays zero). `norms` is the squared norm of
// the heaviest joint's 3×3 part, `a` the rows of the blend's: both only judge and rescue.
// Bounds keep the squares clear of denormals and infinity.
inline constexpr float kSmall = 1e-30f, kLarge = 1e30f;
inline constexpr float kSquare = static_cast<float>(kCollapsed * kCollapsed);

template <typename SiteOf>
BUNRAKU_INLINE void finish_normals(const DeformJob& job, const Vec (&n)[3], const Vec (&a)[9],
                                   const Vec& norms, const Rest& rest, const SiteOf& site,
                                   Surface& out) {
  const Vec square = detail::dot(n, n);
  const Vec inverse = 1 / sqrt(square);
  for (int k = 0; k < 3; ++k) out.normal[k] = n[k] * inverse;
  const Mask fine =
      (square > detail::larger(kSquare * norms * norms, splat(kSmall))) & (square < kLarge);
  const unsigned bad = ~bits(fine) & kAllBits;
  if (__builtin_expect(bad == 0, 1)) return;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((bad >> lane & 1) == 0) continue;
    const double from[3] = {rest.normal[0][lane], rest.normal[1][lane], rest.normal[2][lane]};
    double blend[9], normal[3];
    for (int k = 0; k < 9; ++k) blend[k] = a[k][lane];
    rescue_normal(job, site(lane), blend, from, normal);
    for (int k = 0; k < 3; ++k) out.normal[k][lane] = static_cast<float>(normal[k]);
  }
}

template <typename SiteOf>
BUNRAKU_INLINE void finish_tangents(const DeformJob& job, const Vec (&t)[3], const Vec& det,
                                    const Vec (&a)[9], const Vec& norms, const Rest& rest,
                                    const SiteOf& site, Surface& out) {
  const Vec square = detail::dot(t, t);
  const Vec inverse = 1 / sqrt(square);
  for (int k = 0; k < 3; ++k) out.tangent[k] = t[k] * inverse;
  out.tangent[3] = negate_where(det < 0, rest.tangent[3]);
  const Vec volume = det * det;
  const Mask fine =
      (square > detail::larger(kSquare * norms, splat(kSmall))) & (square < kLarge) &
      (volume > detail::larger(kSquare * norms * norms * norms, splat(kSmall))) & (volume < kLarge);
  const unsigned bad = ~bits(fine) & kAllBits;
  if (__builtin_expect(bad == 0, 1)) return;
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((bad >> lane & 1) == 0) continue;
    double from[4], blend[9], tangent[4];
    for (int k = 0; k < 4; ++k) from[k] = rest.tangent[k][lane];
    for (int k = 0; k < 9; ++k) blend[k] = a[k][lane];
    rescue_tangent(job, site(lane), blend, from, tangent);
    for (int k = 0; k < 4; ++k) out.tangent[k][lane] = static_cast<float>(tangent[k]);
  }
}

// Position by the blended 3×4 rows; the order of the sums is part of the result.
BUNRAKU_INLINE void place(const Vec (&m)[12], const Vec (&p)[3], Vec (&out)[3]) {
  for (int i = 0; i < 3; ++i) {
    const Vec* row = m + 4 * i;
    out[i] = row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3];
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

// Linear blend: everything by the blended matrix; normals by its cofactors, so that mirrors and
// non-uniform scale are right.
template <bool kOriented, typename SiteOf>
BUNRAKU_INLINE void linear_surface(const DeformJob& job, const Vec (&m)[12], const Vec& norms,
                                   const Rest& rest, const SiteOf& site, Surface& out) {
  place(m, rest.position, out.position);
  if (!kOriented) return;
  const Vec a[9] = {m[0], m[1], m[2], m[4], m[5], m[6], m[8], m[9], m[10]};
  const Vec c0[3] = {a[0], a[3], a[6]}, c1[3] = {a[1], a[4], a[7]}, c2[3] = {a[2], a[5], a[8]};
  Vec k0[3], k1[3], k2[3], r[3];
  detail::cross(c1, c2, k0);
  if (job.normals != nullptr) {
    detail::cross(c2, c0, k1);
    detail::cross(c0, c1, k2);
    for (int k = 0; k < 3; ++k) {
      r[k] = k0[k] * rest.normal[0] + k1[k] * rest.normal[1] + k2[k] * rest.normal[2];
    }
    finish_normals(job, r, a, norms, rest, site, out);
  }
  if (job.tangents != nullptr) {
    for (int k = 0; k < 3; ++k) {
      r[k] = c0[k] * rest.tangent[0] + c1[k] * rest.tangent[1] + c2[k] * rest.tangent[2];
    }
    finish_tangents(job, r, detail::dot(c0, k0), a, norms, rest, site, out);
  }
}

// Dual quaternions: the blended stretch first, then the blended rigid motion.
template <bool kOriented, typename SiteOf>
BUNRAKU_INLINE void dual_surface(const DeformJob& job, const DualQuaternions& blend,
                                 bool stretches, const Vec& norms, const Rest& rest,
                                 const SiteOf& site, Surface& out) {
  Vec m[12], p[3], n[3], t[3], det;
  rigid_rows(blend.q, m);
  const Vec &xx = blend.stretch[0], &yy = blend.stretch[1], &zz = blend.stretch[2];
  const Vec &xy = blend.stretch[3], &xz = blend.stretch[4], &yz = blend.stretch[5];
  if (stretches) {
    detail::symmetric_times(blend.stretch, rest.position, p);
    if (kOriented) {
      const Vec k[6] = {yy * zz - yz * yz, xx * zz - xz * xz, xx * yy - xy * xy,
                        yz * xz - xy * zz, xy * yz - yy * xz, xy * xz - xx * yz};
      detail::symmetric_times(k, rest.normal, n);
      detail::symmetric_times(blend.stretch, rest.tangent, t);
      det = xx * k[0] + xy * k[3] + xz * k[4];
    }
  } else {  // what the above comes to, bit for bit, when the stretch is a multiple of the identity
    for (int k = 0; k < 3; ++k) {
      p[k] = xx * rest.position[k];
      n[k] = (xx * xx) * rest.normal[k];
      t[k] = xx * rest.tangent[k];
    }
    det = xx * (xx * xx);
  }
  place(m, p, out.position);
  if (!kOriented) return;
  Vec a[9], r[3];
  for (int i = 0; i < 3; ++i) detail::symmetric_times(blend.stretch, m + 4 * i, a + 3 * i);
  if (job.normals != nullptr) {
    for (int i = 0; i < 3; ++i) r[i] = m[4 * i] * n[0] + m[4 * i + 1] * n[1] + m[4 * i + 2] * n[2];
    finish_normals(job, r, a, norms, rest, site, out);
  }
  if (job.tangents != nullptr) {
    for (int i = 0; i < 3; ++i) r[i] = m[4 * i] * t[0] + m[4 * i + 1] * t[1] + m[4 * i + 2] * t[2];
    finish_tangents(job, r, det, a, norms, rest, site, out);
  }
}

// share · b + (1 − share) · a, directions brought back to unit length.
template <bool kOriented>
BUNRAKU_INLINE void mix(const DeformJob& job, const Vec& share, const Surface& b, Surface& a) {
  const Vec rest = 1 - share;
  for (int k = 0; k < 3; ++k) a.position[k] = share * b.position[k] + rest * a.position[k];
  if (!kOriented) return;
  if (job.normals != nullptr) detail::mix_directions(share, b.normal, a.normal);
  if (job.tangents != nullptr) {
    detail::mix_directions(share, b.tangent, a.tangent);
    a.tangent[3] = share < 0.5f ? a.tangent[3] : b.tangent[3];
  }
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
