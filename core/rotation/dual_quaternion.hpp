#pragma once
// Rigid transforms as dual quaternions: real x, y, z, w, then dual x, y, z, w.

#include "rotation/matrix.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

template <class V>
BUNRAKU_LANES void multiply_dual(const V a[8], const V b[8], V out[8]) {
  V left[4], right[4];
  multiply(a, b + 4, left);
  multiply(a + 4, b, right);
  multiply(a, b, out);
  for (int i = 0; i < 4; ++i) out[i + 4] = left[i] + right[i];
}

template <class V>
BUNRAKU_LANES void translation_of(const V dq[8], V t[3]) {
  V back[4], product[4];
  conjugate(dq, back);
  multiply(dq + 4, back, product);
  for (int i = 0; i < 3; ++i) t[i] = product[i] + product[i];
}

// The screw motion of a unit dual quaternion with w >= 0, carried on to t times its angle and t
// times its advance. With s = |v| = sin(θ/2) for the real vector part v: the new vector parts are
// k v and k v_d - (t cos(tθ/2) - k cos(θ/2)) (w_d / s²) v where k = sin(tθ/2) / s. Over s² the
// bracket is t (1 - t²)/3 to within s², which replaces it where rounding would outweigh it.
template <class T>
BUNRAKU_LANES void power_dual(const Vector<T> dq[8], const Vector<T>& t, Vector<T> out[8]) {
  const Vector<T> squared = square<T, 3>(dq), size = root(squared);
  const Mask<T> small = squared < Float<T>::kSquareLow;
  Vector<T> sine, cosine;
  sine_and_cosine<T>(t * angle_in_first_quadrant<T>(size, dq[3]), sine, cosine);
  const Vector<T> k = small ? t : sine / (small ? splat<T>(1) : size);
  const Mask<T> nearly_still = squared < static_cast<T>(sizeof(T) == 4 ? 3e-4 : 1e-8);
  const Vector<T> series = t * (static_cast<T>(1) - t * t) * static_cast<T>(1.0 / 3);
  const Vector<T> bracket = (t * cosine - k * dq[3]) / (nearly_still ? splat<T>(1) : squared);
  const Vector<T> along = (nearly_still ? series : bracket) * dq[7];
  for (int i = 0; i < 3; ++i) {
    out[i] = dq[i] * k;
    out[i + 4] = dq[i + 4] * k - along * dq[i];
  }
  out[3] = cosine;
  out[7] = t * k * dq[7];
}

struct DualMultiply {
  static constexpr int kInputs[] = {8, 8}, kOutputs[] = {8};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    multiply_dual(in, in + 8, out);
    return Mask<T>{};
  }
};

// Option 1: the vector parts negated; 2: the dual part; 3: both.
struct DualConjugate {
  static constexpr int kInputs[] = {8}, kOutputs[] = {8};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int option) {
    for (int i = 0; i < 8; ++i) {
      const bool negated = ((option & 1) != 0 && i % 4 < 3) != ((option & 2) != 0 && i >= 4);
      out[i] = negated ? -in[i] : in[i];
    }
    return Mask<T>{};
  }
};

struct DualInverse {
  static constexpr int kInputs[] = {8}, kOutputs[] = {8};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> half[4];
    const Mask<T> refused = Inverse::apply<T>(in, out, 0);
    multiply(out, in + 4, half);
    multiply(half, out, out + 4);
    for (int i = 4; i < 8; ++i) out[i] = -out[i];
    return refused;
  }
};

// Real part of length 1, and nothing of the dual part along it.
struct DualNormalize {
  static constexpr int kInputs[] = {8}, kOutputs[] = {8};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    for (int i = 0; i < 4; ++i) out[i] = in[i];
    const Mask<T> refused = normalize<T, 4>(out);
    const Vector<T> size = dot4(out, in);
    for (int i = 0; i < 4; ++i) out[i + 4] = in[i + 4] / size;
    const Vector<T> along = dot4(out, out + 4);
    for (int i = 0; i < 4; ++i) out[i + 4] -= along * out[i];
    return refused;
  }
};

struct DualFromRigid {
  static constexpr int kInputs[] = {4, 3}, kOutputs[] = {8};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const T half = static_cast<T>(0.5);
    const Vector<T> t[4] = {half * in[4], half * in[5], half * in[6], Vector<T>{}};
    for (int i = 0; i < 4; ++i) out[i] = in[i];
    multiply(t, in, out + 4);
    return Mask<T>{};
  }
};

// Rigid matrices of three rows or four; what FromMatrix4 refuses, and translations that are not finite.
template <int Rows>
struct DualFromMatrix {
  static constexpr int kInputs[] = {4 * Rows}, kOutputs[] = {8};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> m[16];
    for (int i = 0; i < 16; ++i) m[i] = i < 4 * Rows ? in[i % (4 * Rows)] : splat<T>(i == 15);
    const Mask<T> refused = FromMatrix4::apply<T>(m, out, 0);
    const Vector<T> rigid[7] = {out[0], out[1], out[2], out[3], m[3], m[7], m[11]};
    DualFromRigid::apply<T>(rigid, out, 0);
    return refused | not_finite<T, 3>(rigid + 4);
  }
};

struct DualToRigid {
  static constexpr int kInputs[] = {8}, kOutputs[] = {4, 3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    for (int i = 0; i < 4; ++i) out[i] = in[i];
    translation_of(in, out + 4);
    return Mask<T>{};
  }
};

struct DualToMatrix {
  static constexpr int kInputs[] = {8}, kOutputs[] = {16};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> m[9], t[3];
    matrix_of(in, m);
    translation_of(in, t);
    for (int row = 0; row < 4; ++row) {
      for (int c = 0; c < 4; ++c) {
        out[4 * row + c] = row == 3 ? splat<T>(c == 3) : (c == 3 ? t[row % 3] : m[(3 * row + c) % 9]);
      }
    }
    return Mask<T>{};
  }
};

struct DualTransformPoints {
  static constexpr int kInputs[] = {8, 3}, kOutputs[] = {3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> t[3];
    rotate(in, in + 8, out);
    translation_of(in, t);
    for (int i = 0; i < 3; ++i) out[i] += t[i];
    return Mask<T>{};
  }
};

struct DualTransformVectors {
  static constexpr int kInputs[] = {8, 3}, kOutputs[] = {3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    rotate(in, in + 8, out);
    return Mask<T>{};
  }
};

// Axis, moment, angle, advance. A turn of less than one rounding (2^-52, 2^-23) moves no point by
// more than rounding does, while its line would run off to infinity: it is none, and the axis is
// where the translation goes.
struct ToScrew {
  static constexpr int kInputs[] = {8}, kOutputs[] = {3, 3, 1, 1};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> dq[8], t[3], way[3], across[3], nearest[3], *axis = out, *moment = out + 3;
    const Mask<T> refused = DualNormalize::apply<T>(in, dq, 0);
    const Mask<T> negative = dq[3] < 0;
    for (int i = 0; i < 8; ++i) dq[i] = negate_where(negative, dq[i]);
    translation_of(dq, t);
    const Vector<T> sine = root(square<T, 3>(dq));
    const Vector<T> angle = static_cast<T>(2) * angle_in_first_quadrant<T>(sine, dq[3]);
    const Mask<T> still = angle < Float<T>::kEpsilon;
    for (int i = 0; i < 3; ++i) way[i] = t[i];
    const Mask<T> nowhere = normalize<T, 3>(way);
    for (int i = 0; i < 3; ++i) {
      way[i] = nowhere ? splat<T>(i == 0) : way[i];
      axis[i] = still ? way[i] : dq[i] / (still ? splat<T>(1) : sine);
    }
    // t - (t · axis) axis is (1 - R) point; the point's moment, from t × axis and its quarter turn.
    cross(t, axis, across);
    cross(axis, across, nearest);
    const Vector<T> cotangent = dq[3] / (still ? splat<T>(1) : sine);
    for (int i = 0; i < 3; ++i) {
      moment[i] = still ? Vector<T>{} : static_cast<T>(0.5) * (across[i] + nearest[i] * cotangent);
    }
    out[6] = still ? Vector<T>{} : angle;
    out[7] = dot3(t, axis);
    return refused;
  }
};

// (sin θ/2 a, cos θ/2) and (sin θ/2 m + d/2 cos θ/2 a, -d/2 sin θ/2), which keeps its digits however
// far the line is away (Daniilidis 1999). What of the moment is along the axis is dropped.
struct FromScrew {
  static constexpr int kInputs[] = {3, 3, 1, 1}, kOutputs[] = {8};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> axis[3] = {in[0], in[1], in[2]}, sine, cosine;
    const Mask<T> refused = normalize<T, 3>(axis) | not_finite<T, 5>(in + 3);
    const T half = static_cast<T>(0.5);
    sine_and_cosine<T>(half * in[6], sine, cosine);
    const Vector<T> along = half * in[7] * cosine - sine * dot3(in + 3, axis);
    for (int i = 0; i < 3; ++i) {
      out[i] = sine * axis[i];
      out[i + 4] = sine * in[i + 3] + along * axis[i];
    }
    out[3] = cosine;
    out[7] = static_cast<T>(0) - half * in[7] * sine;  // not -0
    return refused;
  }
};

// a · (a⁻¹ b)^t, b's sign such that the screw turns the shorter way.
struct DualScrewInterpolation {
  static constexpr int kInputs[] = {8, 8, 1}, kOutputs[] = {8};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> inverse[8], between[8], moved[8];
    conjugate(in, inverse);
    conjugate(in + 4, inverse + 4);
    multiply_dual(inverse, in + 8, between);
    const Mask<T> negative = between[3] < 0;
    for (int i = 0; i < 8; ++i) between[i] = negate_where(negative, between[i]);
    power_dual<T>(between, in[16], moved);
    multiply_dual(in, moved, out);
    return Mask<T>{};
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
