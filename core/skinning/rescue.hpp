#pragma once
// Normals and tangents of single lanes that leave the fast path: where a blend collapses, where
// the rest direction is zero, and where squares would leave the range of single precision.
//
// By the blend; where that collapses, by the heaviest joint; where that collapses too, as at rest.

#include "skinning/rest.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

// A blend counts as collapsed where its result is this much smaller than what the heaviest joint
// alone gives at most: below that, single precision leaves only the rounding of the sum.
inline constexpr double kCollapsed = 1e-6;

namespace detail {

// Columns of a 3×3 matrix, scaled so that its largest entry is 1 (unless all are 0).
struct Linear {
  double column[3][3];
  double scale;
};

inline Linear linear(const double (&rows)[9]) {
  Linear a{{}, 0};
  for (const double x : rows) a.scale = __builtin_fabs(x) > a.scale ? __builtin_fabs(x) : a.scale;
  if (a.scale == 0) return a;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) a.column[j][i] = rows[3 * i + j] / a.scale;
  }
  return a;
}

inline Linear heaviest(const DeformJob& job, const Site& site) {
  double rows[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  const std::int64_t slot = job.influences.heaviest[site.vertex];
  if (slot > 0) {
    const float* matrix = job.palette + (site.frame * job.joints + slot - 1) * 12;
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) rows[3 * i + j] = matrix[4 * i + j];
    }
  }
  return linear(rows);
}

// Size below which a result of the blend `a`, as scaled, is rounding: of degree 1 in the matrix.
inline double least(const Linear& a, const Linear& heaviest) {
  if (a.scale == 0) return 0;
  double sum = 0;
  for (const auto& column : heaviest.column) sum += dot(column, column);
  return __builtin_sqrt(sum) * heaviest.scale / a.scale;
}

inline void times(const Linear& a, const double* v, double* r) {
  for (int k = 0; k < 3; ++k) {
    r[k] = a.column[0][k] * v[0] + a.column[1][k] * v[1] + a.column[2][k] * v[2];
  }
}

inline void cofactor_times(const Linear& a, const double* v, double* r) {
  Linear k{};
  for (int i = 0; i < 3; ++i) cross(a.column[(i + 1) % 3], a.column[(i + 2) % 3], k.column[i]);
  times(k, v, r);
}

inline double determinant(const Linear& a) {
  double k[3];
  cross(a.column[1], a.column[2], k);
  return dot(a.column[0], k);
}

// Cofactors, and back again where a mirror turned the normal round.
inline void normal_times(const Linear& a, const double* v, double least, double* r) {
  cofactor_times(a, v, r);
  if (determinant(a) < -least) {
    for (int k = 0; k < 3; ++k) r[k] = -r[k];
  }
}

inline bool unit(const double* v, double least, double* out) {
  const double length = __builtin_sqrt(dot(v, v));
  if (!(length > least)) return false;
  for (int k = 0; k < 3; ++k) out[k] = v[k] / length;
  return true;
}

}  // namespace detail

inline void rescue_normal(const DeformJob& job, const Site& site, const double (&blend)[9],
                          const double* rest, double* normal) {
  for (int k = 0; k < 3; ++k) normal[k] = 0;
  double n[3], r[3];
  if (!detail::unit(rest, 0, n)) return;
  const detail::Linear a = detail::linear(blend), h = detail::heaviest(job, site);
  const double least = detail::least(a, h);
  detail::normal_times(a, n, kCollapsed * least * least * least, r);
  if (detail::unit(r, kCollapsed * least * least, normal)) return;
  detail::normal_times(h, n, kCollapsed, r);
  if (detail::unit(r, 1e-12, normal)) return;
  for (int k = 0; k < 3; ++k) normal[k] = n[k];
}

inline void rescue_tangent(const DeformJob& job, const Site& site, const double (&blend)[9],
                           const double* rest, double* tangent) {
  const detail::Linear a = detail::linear(blend), h = detail::heaviest(job, site);
  const double least = detail::least(a, h);
  double det = detail::determinant(a);
  if (__builtin_fabs(det) <= kCollapsed * least * least * least) det = detail::determinant(h);
  for (int k = 0; k < 3; ++k) tangent[k] = 0;
  tangent[3] = det < 0 ? -rest[3] : rest[3];
  double t[3], r[3];
  if (!detail::unit(rest, 0, t)) return;
  detail::times(a, t, r);
  if (detail::unit(r, kCollapsed * least, tangent)) return;
  detail::times(h, t, r);
  if (detail::unit(r, 1e-12, tangent)) return;
  for (int k = 0; k < 3; ++k) tangent[k] = t[k];
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
