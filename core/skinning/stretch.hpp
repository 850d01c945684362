#pragma once
// Polar decomposition A = R·S of a 3×3 matrix: R a proper rotation, S symmetric.
//
// A mirror (det A < 0) stays in S, which is then negative; that choice is unique and varies
// smoothly with A, unlike flipping one axis. Directions that A collapses are completed to a
// right-handed frame, so hidden joints (scale 0) give a rotation and no NaN.

namespace bunraku::BUNRAKU_LEVEL::skinning {

struct Polar {
  double rotation[3][3];
  double stretch[3][3];
};

namespace detail {

inline double dot(const double* a, const double* b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

inline void cross(const double* a, const double* b, double* r) {
  r[0] = a[1] * b[2] - a[2] * b[1];
  r[1] = a[2] * b[0] - a[0] * b[2];
  r[2] = a[0] * b[1] - a[1] * b[0];
}

// Eigenvectors of the symmetric matrix `s` into the rows of `axes`, by Jacobi rotations;
// the diagonal of `s` becomes the eigenvalues.
inline void diagonalise(double (&s)[3][3], double (&axes)[3][3]) {
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) axes[i][j] = i == j;
  }
  const double scale = s[0][0] + s[1][1] + s[2][2];
  for (int sweep = 0; sweep < 12; ++sweep) {
    const double off = s[0][1] * s[0][1] + s[0][2] * s[0][2] + s[1][2] * s[1][2];
    if (off <= 1e-32 * scale * scale) return;
    for (int p = 0; p < 2; ++p) {
      for (int q = p + 1; q < 3; ++q) {
        if (s[p][q] == 0) continue;
        const double theta = (s[q][q] - s[p][p]) / (2 * s[p][q]);
        const double t = (theta < 0 ? -1.0 : 1.0) /
                         (__builtin_fabs(theta) + __builtin_sqrt(theta * theta + 1));
        const double c = 1 / __builtin_sqrt(t * t + 1), d = t * c;
        for (int k = 0; k < 3; ++k) {
          const double a = s[k][p], b = s[k][q];
          s[k][p] = c * a - d * b;
          s[k][q] = d * a + c * b;
        }
        for (int k = 0; k < 3; ++k) {
          const double a = s[p][k], b = s[q][k];
          s[p][k] = c * a - d * b;
          s[q][k] = d * a + c * b;
        }
        for (int k = 0; k < 3; ++k) {
          const double a = axes[p][k], b = axes[q][k];
          axes[p][k] = c * a - d * b;
          axes[q][k] = d * a + c * b;
        }
      }
    }
  }
}

// A unit vector perpendicular to the unit vector `u`, as close to `wish` as possible.
inline void perpendicular(const double* u, const double* wish, const double* other, double* r) {
  const double* const choices[2] = {wish, other};
  for (const double* from : choices) {
    const double along = dot(u, from);
    for (int k = 0; k < 3; ++k) r[k] = from[k] - along * u[k];
    const double length = __builtin_sqrt(dot(r, r));
    if (length < 1e-3 * __builtin_sqrt(dot(from, from))) continue;
    for (int k = 0; k < 3; ++k) r[k] /= length;
    return;
  }
}

}  // namespace detail

inline Polar polar(const double (&given)[3][3]) {
  double largest = 0;
  for (const auto& row : given) {
    for (const double x : row) largest = __builtin_fabs(x) > largest ? __builtin_fabs(x) : largest;
  }
  Polar result{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {}};
  if (largest == 0) return result;

  double a[3][3], gram[3][3], axes[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) a[i][j] = given[i][j] / largest;
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) gram[i][j] = a[0][i] * a[0][j] + a[1][i] * a[1][j] + a[2][i] * a[2][j];
  }
  detail::diagonalise(gram, axes);

  // v: eigenvectors by falling eigenvalue, right-handed. u: where A takes them, right-handed too.
  int order[3] = {0, 1, 2};
  for (int i = 0; i < 2; ++i) {
    for (int j = i + 1; j < 3; ++j) {
      if (gram[order[j]][order[j]] > gram[order[i]][order[i]]) {
        const int other = order[i];
        order[i] = order[j];
        order[j] = other;
      }
    }
  }
  double v[3][3], u[3][3], minor[3];
  for (int k = 0; k < 3; ++k) {
    v[0][k] = axes[order[0]][k];
    v[1][k] = axes[order[1]][k];
  }
  detail::cross(v[0], v[1], v[2]);
  detail::cross(a[1], a[2], minor);
  // Single-precision palettes: a determinant below their rounding has no sign.
  const double det = detail::dot(a[0], minor);
  const double sign = det < -1e-20 ? -1.0 : 1.0;
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 3; ++k) u[i][k] = sign * detail::dot(a[k], v[i]);
  }
  const double length = __builtin_sqrt(detail::dot(u[0], u[0]));
  for (int k = 0; k < 3; ++k) u[0][k] /= length;
  const bool flat = __builtin_sqrt(detail::dot(u[1], u[1])) < 1e-6 * length;
  if (flat) {
    detail::perpendicular(u[0], v[1], v[2], u[1]);
  } else {
    const double along = detail::dot(u[0], u[1]);
    for (int k = 0; k < 3; ++k) u[1][k] -= along * u[0][k];
    const double width = __builtin_sqrt(detail::dot(u[1], u[1]));
    for (int k = 0; k < 3; ++k) u[1][k] /= width;
  }
  detail::cross(u[0], u[1], u[2]);

  auto& r = result.rotation;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) r[i][j] = u[0][i] * v[0][j] + u[1][i] * v[1][j] + u[2][i] * v[2][j];
  }
  double s[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      s[i][j] = largest * (r[0][i] * a[0][j] + r[1][i] * a[1][j] + r[2][i] * a[2][j]);
    }
  }
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) result.stretch[i][j] = 0.5 * (s[i][j] + s[j][i]);
  }
  return result;
}

// Unit quaternion (x, y, z, w) of a proper rotation, by its largest component (Shepperd 1978).
inline void quaternion(const double (&r)[3][3], double (&q)[4]) {
  const double trace = r[0][0] + r[1][1] + r[2][2];
  int largest = 3;
  double most = trace;
  for (int i = 0; i < 3; ++i) {
    if (r[i][i] > most) {
      most = r[i][i];
      largest = i;
    }
  }
  if (largest == 3) {
    q[0] = r[2][1] - r[1][2];
    q[1] = r[0][2] - r[2][0];
    q[2] = r[1][0] - r[0][1];
    q[3] = 1 + trace;
  } else {
    const int i = largest, j = (i + 1) % 3, k = (i + 2) % 3;
    q[i] = 1 + r[i][i] - r[j][j] - r[k][k];
    q[j] = r[i][j] + r[j][i];
    q[k] = r[i][k] + r[k][i];
    q[3] = r[k][j] - r[j][k];
  }
  const double length = __builtin_sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (double& x : q) x /= length;
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
