#pragma once
// Axes and angles, rotation vectors, powers, and the twist about an axis.

#include "rotation/quaternion.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

// (v sin(angle/2) / |v|, cos(angle/2)) where angle = |v|: exact down to the zero vector. Refused: a
// vector that is not finite, or so long that its square is not.
template <class T>
BUNRAKU_LANES Mask<T> exponential(const Vector<T> v[3], Vector<T> q[4]) {
  using F = Float<T>;
  const Vector<T> squared = square<T, 3>(v);
  const Mask<T> small = squared < F::kSquareLow;  // there sin(x/2)/x is 1/2 to the last digit
  const Vector<T> angle = root(squared);
  Vector<T> sine;
  sine_and_cosine<T>(static_cast<T>(0.5) * angle, sine, q[3]);
  const Vector<T> ratio = small ? splat<T>(static_cast<T>(0.5)) : sine / (small ? splat<T>(1) : angle);
  for (int i = 0; i < 3; ++i) q[i] = v[i] * ratio;
  return ~(angle < F::kInfinity);
}

// Half the angle of a unit quaternion over its sine: what turns its vector part into half a
// rotation vector. Where the sine has underflown it is 1 for w = 1; `half_angle` is in [0, π].
template <class T>
BUNRAKU_LANES Vector<T> half_angle_over_sine(const Vector<T> q[4], Vector<T>& half_angle) {
  const Vector<T> squared = square<T, 3>(q);
  const Mask<T> small = squared < Float<T>::kSquareLow;
  const Vector<T> sine = root(squared);
  half_angle = angle_of<T>(sine, q[3]);
  return small ? splat<T>(1) : half_angle / (small ? splat<T>(1) : sine);
}

struct FromRotationVector {
  static constexpr int kInputs[] = {3}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    return exponential<T>(in, out);
  }
};

struct ToRotationVector {
  static constexpr int kInputs[] = {4}, kOutputs[] = {3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> q[4] = {in[0], in[1], in[2], in[3]}, half;
    const Mask<T> refused = normalize<T, 4>(q);
    turn_to_positive_side(q);
    const Vector<T> ratio = half_angle_over_sine<T>(q, half);
    for (int i = 0; i < 3; ++i) out[i] = q[i] * (ratio + ratio);
    return refused;
  }
};

// The C library's, one lane at a time: these are for algebra, not for a million rotations.
BUNRAKU_LANES float natural_exponential(float x) { return __builtin_expf(x); }
BUNRAKU_LANES double natural_exponential(double x) { return __builtin_exp(x); }
BUNRAKU_LANES float natural_logarithm(float x) { return __builtin_logf(x); }
BUNRAKU_LANES double natural_logarithm(double x) { return __builtin_log(x); }

// Of any quaternion: e^w (v sin|v| / |v|, cos|v|).
struct Exponential {
  static constexpr int kInputs[] = {4}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Vector<T> v[3] = {in[0] + in[0], in[1] + in[1], in[2] + in[2]};
    const Mask<T> refused = exponential<T>(v, out);
    T sizes[Lanes<T>::kCount];
    for (int l = 0; l < Lanes<T>::kCount; ++l) sizes[l] = natural_exponential(in[3][l]);
    const Vector<T> size = load<Vector<T>>(sizes);
    for (int i = 0; i < 4; ++i) out[i] *= size;
    return refused;
  }
};

// (v / |v| · angle, ln|q|), the angle in [0, π]: q and -q are kept apart. A negative number has no v
// to turn about: X.
struct Logarithm {
  static constexpr int kInputs[] = {4}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> q[4] = {in[0], in[1], in[2], in[3]}, half;
    const Mask<T> refused = normalize<T, 4>(q);
    const Vector<T> ratio = half_angle_over_sine<T>(q, half);
    for (int i = 0; i < 3; ++i) out[i] = q[i] * ratio;
    const Mask<T> negative = (q[3] < 0) & (square<T, 3>(q) < Float<T>::kSquareLow);
    if (any(negative)) out[0] = negative ? half : out[0];
    const Vector<T> size = dot4(q, in);  // the length, even where its square leaves the range
    T logarithms[Lanes<T>::kCount];
    for (int l = 0; l < Lanes<T>::kCount; ++l) logarithms[l] = natural_logarithm(size[l]);
    out[3] = load<Vector<T>>(logarithms);
    return refused;
  }
};

struct FromAxisAngle {
  static constexpr int kInputs[] = {3, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> sine;
    for (int i = 0; i < 3; ++i) out[i] = in[i];
    const Mask<T> refused = normalize<T, 3>(out);
    sine_and_cosine<T>(static_cast<T>(0.5) * in[3], sine, out[3]);
    for (int i = 0; i < 3; ++i) out[i] *= sine;
    return refused | ~(absolute<T>(in[3]) < Float<T>::kInfinity);
  }
};

struct ToAxisAngle {
  static constexpr int kInputs[] = {4}, kOutputs[] = {3, 1};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> q[4] = {in[0], in[1], in[2], in[3]}, squared;
    const Mask<T> refused = normalize<T, 4>(q);
    turn_to_positive_side(q);
    const Vector<T> sine = root(square<T, 3>(q));
    Vector<T> axis[3] = {q[0], q[1], q[2]};
    const Mask<T> still = (q[0] == 0) & (q[1] == 0) & (q[2] == 0);
    axis[0] = still ? splat<T>(1) : axis[0];
    rescale<T, 3>(axis, squared);
    const Vector<T> size = root(squared);
    for (int i = 0; i < 3; ++i) out[i] = axis[i] / size;
    out[3] = static_cast<T>(2) * angle_in_first_quadrant<T>(sine, q[3]);
    return refused;
  }
};

// `exponent` times the angle of the shorter turn.
struct Power {
  static constexpr int kInputs[] = {4, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> q[4] = {in[0], in[1], in[2], in[3]}, half, sine;
    const Mask<T> refused = normalize<T, 4>(q);
    turn_to_positive_side(q);
    const Vector<T> squared = square<T, 3>(q), size = root(squared);
    const Mask<T> small = squared < Float<T>::kSquareLow;
    half = angle_in_first_quadrant<T>(size, q[3]);
    sine_and_cosine<T>(in[4] * half, sine, out[3]);
    const Vector<T> ratio = small ? in[4] : sine / (small ? splat<T>(1) : size);
    for (int i = 0; i < 3; ++i) out[i] = q[i] * ratio;
    return refused | ~(absolute<T>(in[4]) < Float<T>::kInfinity);
  }
};

// q = swing · twist, the twist about the axis and the swing about a line across it. A swing of half
// a turn leaves no twist to find: it is the identity then.
struct SwingTwist {
  static constexpr int kInputs[] = {4, 3}, kOutputs[] = {4, 4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> q[4] = {in[0], in[1], in[2], in[3]}, axis[3] = {in[4], in[5], in[6]}, *twist = out + 4;
    const Mask<T> refused = normalize<T, 4>(q) | normalize<T, 3>(axis);
    const Vector<T> along = dot3(q, axis);
    for (int i = 0; i < 3; ++i) twist[i] = along * axis[i];
    twist[3] = q[3];
    const Mask<T> none = normalize<T, 4>(twist);
    for (int i = 0; i < 4; ++i) twist[i] = none ? splat<T>(i == 3) : twist[i];
    Vector<T> back[4];
    conjugate(twist, back);
    multiply(q, back, out);
    return refused;
  }
};

// Quaternion, angular velocity in the world's axes, time: exp(ω dt) q, or to first order
// normalize(q + dt/2 (ω, 0) q).
struct Integrate {
  static constexpr int kInputs[] = {4, 3, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Vector<T> v[3] = {in[4] * in[7], in[5] * in[7], in[6] * in[7]};
    Vector<T> turn[4];
    const Mask<T> refused = exponential<T>(v, turn);
    multiply(turn, in, out);
    return refused;
  }
};

struct IntegrateFirstOrder {
  static constexpr int kInputs[] = {4, 3, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Vector<T> half = static_cast<T>(0.5) * in[7];
    const Vector<T> v[4] = {in[4] * half, in[5] * half, in[6] * half, Vector<T>{}};
    multiply(v, in, out);
    for (int i = 0; i < 4; ++i) out[i] += in[i];
    return normalize<T, 4>(out);
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
