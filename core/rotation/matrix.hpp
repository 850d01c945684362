#pragma once
// Rotation matrices for column vectors, and the quaternion nearest to a noisy one.

#include "rotation/quaternion.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

template <class V>
BUNRAKU_LANES void matrix_of(const V q[4], V m[9]) {
  const V x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
  const V xx = q[0] * x2, yy = q[1] * y2, zz = q[2] * z2;
  const V xy = q[0] * y2, yz = q[1] * z2, zx = q[2] * x2;
  const V xw = q[3] * x2, yw = q[3] * y2, zw = q[3] * z2;
  const V one = V{} + 1;
  m[0] = one - (yy + zz);
  m[1] = xy - zw;
  m[2] = zx + yw;
  m[3] = xy + zw;
  m[4] = one - (zz + xx);
  m[5] = yz - xw;
  m[6] = zx - yw;
  m[7] = yz + xw;
  m[8] = one - (xx + yy);
}

// Row k of the symmetric matrix is 4 q_k q for the q of a rotation matrix, and that of the largest
// component is far from zero (Shepperd 1978). For any other matrix its dominant eigenvector is the
// nearest rotation (Davenport 1968).
template <class V>
BUNRAKU_LANES void davenport(const V m[9], V rows[4][4], const V& diagonal) {
  rows[0][0] = diagonal + m[0] - m[4] - m[8];
  rows[1][1] = diagonal - m[0] + m[4] - m[8];
  rows[2][2] = diagonal - m[0] - m[4] + m[8];
  rows[3][3] = diagonal + m[0] + m[4] + m[8];
  rows[0][1] = rows[1][0] = m[3] + m[1];
  rows[1][2] = rows[2][1] = m[7] + m[5];
  rows[2][0] = rows[0][2] = m[2] + m[6];
  rows[0][3] = rows[3][0] = m[7] - m[5];
  rows[1][3] = rows[3][1] = m[2] - m[6];
  rows[2][3] = rows[3][2] = m[3] - m[1];
}

// The row of the largest diagonal entry, the first of equals.
template <class T>
BUNRAKU_LANES void row_of_largest(const Vector<T> rows[4][4], Vector<T> out[4]) {
  Vector<T> size = rows[0][0];
  for (int i = 0; i < 4; ++i) out[i] = rows[0][i];
  for (int k = 1; k < 4; ++k) {
    const Mask<T> better = rows[k][k] > size;
    size = better ? rows[k][k] : size;
    for (int i = 0; i < 4; ++i) out[i] = better ? rows[k][i] : out[i];
  }
}

template <class T>
BUNRAKU_LANES Vector<T> determinant(const Vector<T> m[9]) {
  Vector<T> normal[3];
  cross(m + 3, m + 6, normal);
  return dot3(m, normal);
}

// Lanes that hold no rotation: mirrored, or with columns that are not orthonormal. Rounding passes:
// a thousand float products reach 3e-6 in |MᵀM - 1| and five-digit text 2e-5, while four-digit text
// (2e-4) and half floats (8e-4) do not.
template <class T>
BUNRAKU_LANES Mask<T> no_rotation(const Vector<T> m[9]) {
  Vector<T> error{};
  Mask<T> fine = determinant<T>(m) > 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = i; j < 3; ++j) {
      error = absolute<T>(m[i] * m[j] + m[3 + i] * m[3 + j] + m[6 + i] * m[6 + j] - static_cast<T>(i == j));
      fine &= error <= static_cast<T>(1e-4);
    }
  }
  return ~fine;
}

template <class T>
BUNRAKU_LANES Mask<T> quaternion_of(const Vector<T> m[9], Vector<T> q[4]) {
  Vector<T> rows[4][4];
  davenport(m, rows, splat<T>(1));
  row_of_largest<T>(rows, q);
  const Vector<T> size = root(square<T, 4>(q));
  for (int i = 0; i < 4; ++i) q[i] /= size;
  return no_rotation<T>(m);
}

// By Jacobi's cyclic rotations: a sweep squares the error, so that six reach the last digit. Most
// are done before: a lane that is turns no more, whatever its neighbours do.
template <class T>
inline void dominant_eigenvector(Vector<T> a[4][4], Vector<T> out[4]) {
  const Vector<T> one = splat<T>(1);
  Vector<T> v[4][4];
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) v[i][j] = splat<T>(i == j);
  }
  for (int sweep = 0; sweep < 6; ++sweep) {
    for (int p = 0; p < 3; ++p) {
      for (int q = p + 1; q < 4; ++q) {
        const Vector<T> gap = a[q][q] - a[p][p];
        const Vector<T> size = absolute<T>(a[p][q]), sizes = absolute<T>(a[p][p]) + absolute<T>(a[q][q]);
        const T epsilon = Float<T>::kEpsilon;
        const Mask<T> done = (size <= epsilon / 8 * absolute<T>(gap)) | (size <= epsilon * epsilon * sizes);
        if (!any(~done)) continue;
        const Vector<T> theta = gap / (done ? one : a[p][q] + a[p][q]);
        const Vector<T> steep = one / (absolute<T>(theta) + root(theta * theta + one));
        const Vector<T> t = done ? Vector<T>{} : negate_where(theta < 0, steep);
        const Vector<T> c = one / root(t * t + one), s = t * c;
        for (int k = 0; k < 4; ++k) {
          const Vector<T> kp = a[k][p], kq = a[k][q];
          a[k][p] = c * kp - s * kq;
          a[k][q] = s * kp + c * kq;
        }
        for (int k = 0; k < 4; ++k) {
          const Vector<T> pk = a[p][k], qk = a[q][k];
          a[p][k] = c * pk - s * qk;
          a[q][k] = s * pk + c * qk;
          const Vector<T> kp = v[p][k], kq = v[q][k];
          v[p][k] = c * kp - s * kq;
          v[q][k] = s * kp + c * kq;
        }
      }
    }
  }
  Vector<T> best = a[0][0], largest_component = splat<T>(0);
  for (int i = 0; i < 4; ++i) out[i] = v[0][i];
  for (int k = 1; k < 4; ++k) {
    const Mask<T> better = a[k][k] > best;
    best = better ? a[k][k] : best;
    for (int i = 0; i < 4; ++i) out[i] = better ? v[k][i] : out[i];
  }
  // The largest component comes out positive.
  for (int i = 0; i < 4; ++i) {
    const Mask<T> larger = absolute<T>(out[i]) > absolute<T>(largest_component);
    largest_component = larger ? out[i] : largest_component;
  }
  const Mask<T> negative = largest_component < 0;
  for (int i = 0; i < 4; ++i) out[i] = negate_where(negative, out[i]);
  normalize<T, 4>(out);
}

struct ToMatrix {
  static constexpr int kInputs[] = {4}, kOutputs[] = {9};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    matrix_of(in, out);
    return Mask<T>{};
  }
};

// Homogeneous, without translation.
struct ToMatrix4 {
  static constexpr int kInputs[] = {4}, kOutputs[] = {16};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> m[9];
    matrix_of(in, m);
    for (int i = 0; i < 16; ++i) {
      out[i] = i / 4 < 3 && i % 4 < 3 ? m[i / 4 * 3 + i % 4] : splat<T>(i == 15);
    }
    return Mask<T>{};
  }
};

struct FromMatrix {
  static constexpr int kInputs[] = {9}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    return quaternion_of<T>(in, out);
  }
};

// The rotation block of rigid transforms; a last row other than (0, 0, 0, 1) is refused.
struct FromMatrix4 {
  static constexpr int kInputs[] = {16}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> m[9];
    for (int i = 0; i < 9; ++i) m[i] = in[i / 3 * 4 + i % 3];
    const Mask<T> affine = (in[12] == 0) & (in[13] == 0) & (in[14] == 0) & (in[15] == 1);
    return quaternion_of<T>(m, out) | ~affine;
  }
};

// The rotation R with the smallest |R - M|, whose quaternion maximises tr(RᵀM). Refused: a
// determinant that is not positive, where another rotation or a mirror may be as near. Option 1
// takes that too: for sums of products of vectors it is the best rotation all the same.
struct NearestRotation {
  static constexpr int kInputs[] = {9}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int any_sign) {
    Vector<T> m[9], squared, rows[4][4];
    for (int i = 0; i < 9; ++i) m[i] = in[i];
    const Mask<T> refused = rescale<T, 9>(m, squared);
    davenport(m, rows, Vector<T>{});
    dominant_eigenvector<T>(rows, out);
    return any_sign ? refused : refused | ~(determinant<T>(m) > 0);
  }
};

struct NearestRotation4 {
  static constexpr int kInputs[] = {16}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> m[9];
    for (int i = 0; i < 9; ++i) m[i] = in[i / 3 * 4 + i % 3];
    return NearestRotation::apply<T>(m, out, 0);
  }
};

// Of symmetric 4×4 matrices; refused where one is not finite or zero.
struct DominantEigenvector {
  static constexpr int kInputs[] = {16}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> rows[4][4], flat[16], squared;
    for (int i = 0; i < 16; ++i) flat[i] = in[i];
    const Mask<T> refused = rescale<T, 16>(flat, squared);
    for (int i = 0; i < 16; ++i) rows[i / 4][i % 4] = flat[i];
    dominant_eigenvector<T>(rows, out);
    return refused;
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
