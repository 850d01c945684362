#pragma once
// Products, lengths and turned vectors. Quaternions are x, y, z, w; a · b turns by b first.

#include "rotation/elementary.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

template <class V>
BUNRAKU_LANES void multiply(const V a[4], const V b[4], V out[4]) {
  const V x = a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1];
  const V y = a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0];
  const V z = a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3];
  out[3] = a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2];
  out[0] = x;
  out[1] = y;
  out[2] = z;
}

template <class V>
BUNRAKU_LANES void conjugate(const V q[4], V out[4]) {
  for (int i = 0; i < 3; ++i) out[i] = -q[i];
  out[3] = q[3];
}

// v + 2 u × (u × v + w v)
template <class V>
BUNRAKU_LANES void rotate(const V q[4], const V v[3], V out[3]) {
  V inner[3], outer[3];
  cross(q, v, inner);
  for (int i = 0; i < 3; ++i) inner[i] += q[3] * v[i];
  cross(q, inner, outer);
  for (int i = 0; i < 3; ++i) out[i] = v[i] + (outer[i] + outer[i]);
}

// Of q and -q the one with w >= 0.
template <class V>
BUNRAKU_LANES void turn_to_positive_side(V q[4]) {
  const auto negative = q[3] < 0;
  for (int i = 0; i < 4; ++i) q[i] = negate_where(negative, q[i]);
}

struct Multiply {
  static constexpr int kInputs[] = {4, 4}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    multiply(in, in + 4, out);
    return Mask<T>{};
  }
};

struct Conjugate {
  static constexpr int kInputs[] = {4}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    conjugate(in, out);
    return Mask<T>{};
  }
};

struct Inverse {
  static constexpr int kInputs[] = {4}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> unit[4] = {in[0], in[1], in[2], in[3]}, size = splat<T>(1);
    const Mask<T> refused = normalize<T, 4>(unit);
    size = dot4(unit, in);  // the length, even where its square leaves the range
    for (int i = 0; i < 4; ++i) out[i] = (i < 3 ? -unit[i] : unit[i]) / size;
    return refused;
  }
};

struct Normalize {
  static constexpr int kInputs[] = {4}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    for (int i = 0; i < 4; ++i) out[i] = in[i];
    return normalize<T, 4>(out);
  }
};

// q (3 - |q|²) / 2, one Newton step. Refused: a length further from 1 than 10 %.
struct Renormalize {
  static constexpr int kInputs[] = {4}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Vector<T> squared = square<T, 4>(in);
    const Vector<T> scale = (static_cast<T>(3) - squared) * static_cast<T>(0.5);
    for (int i = 0; i < 4; ++i) out[i] = in[i] * scale;
    return ~((squared > static_cast<T>(0.81)) & (squared < static_cast<T>(1.21)));
  }
};

struct Dot {
  static constexpr int kInputs[] = {4, 4}, kOutputs[] = {1};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    out[0] = dot4(in, in + 4);
    return Mask<T>{};
  }
};

// From |a - b| and |a + b| (Kahan), which keep the digits that the arccosine of a · b loses.
template <class T>
BUNRAKU_LANES Vector<T> angle_between(const Vector<T> p[4], const Vector<T> q[4]) {
  Vector<T> apart[4], together[4];
  for (int i = 0; i < 4; ++i) {
    apart[i] = p[i] - q[i];
    together[i] = p[i] + q[i];
  }
  const Vector<T> a = root(square<T, 4>(apart)), b = root(square<T, 4>(together));
  return static_cast<T>(4) * angle_in_first_quadrant<T>(smallest(a, b), largest(a, b));
}

struct AngleBetween {
  static constexpr int kInputs[] = {4, 4}, kOutputs[] = {1};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    out[0] = angle_between<T>(in, in + 4);
    return Mask<T>{};
  }
};

struct Rotate {
  static constexpr int kInputs[] = {4, 3}, kOutputs[] = {3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    rotate(in, in + 4, out);
    return Mask<T>{};
  }
};

// Scalar last to scalar first, and back.
template <int Shift>
struct Roll {
  static constexpr int kInputs[] = {4}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    for (int i = 0; i < 4; ++i) out[i] = in[(i + Shift) % 4];
    return Mask<T>{};
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
