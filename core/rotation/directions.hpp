#pragma once
// Rotations from directions.

#include "rotation/matrix.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

// The shortest turn from direction a to direction b, both of length 1. Its axis is a × b, and with
// the half angle's sine |b - a|/2 and cosine |a + b|/2 no digit is lost near 0 or near 180 degrees.
// Opposite to the last digit, every axis across a will do: it is a × e for the coordinate axis e that a is
// least along, the first of equals.
template <class T>
BUNRAKU_LANES void shortest_turn(const Vector<T> a[3], const Vector<T> b[3], Vector<T> out[4]) {
  Vector<T> gap[3], sum[3], difference[3], axis[3], squared;
  const Mask<T> obtuse = dot3(a, b) < 0;
  for (int i = 0; i < 3; ++i) {
    gap[i] = b[i] - a[i];
    sum[i] = a[i] + b[i];
    difference[i] = obtuse ? sum[i] : gap[i];  // a × (a + b) = a × (b - a) = a × b
  }
  cross(a, difference, axis);
  const Mask<T> none = rescale<T, 3>(axis, squared), opposite = none & obtuse, still = none & ~obtuse;
  if (any(opposite)) {
    const Vector<T> size[3] = {absolute<T>(a[0]), absolute<T>(a[1]), absolute<T>(a[2])};
    const Mask<T> least_x = (size[0] <= size[1]) & (size[0] <= size[2]);
    const Mask<T> least_y = ~least_x & (size[1] <= size[2]);
    const Vector<T> e[3] = {least_x ? splat<T>(1) : Vector<T>{}, least_y ? splat<T>(1) : Vector<T>{},
                            least_x | least_y ? Vector<T>{} : splat<T>(1)};
    Vector<T> across[3];
    cross(a, e, across);
    for (int i = 0; i < 3; ++i) axis[i] = opposite ? across[i] : axis[i];
    squared = square<T, 3>(axis);
  }
  const Vector<T> half = splat<T>(static_cast<T>(0.5));
  const Vector<T> sine = half * root(square<T, 3>(gap)), cosine = half * root(square<T, 3>(sum));
  const Vector<T> length = root(squared);
  for (int i = 0; i < 3; ++i) out[i] = still ? Vector<T>{} : axis[i] / length * sine;  // equal directions: no turn
  out[3] = opposite ? Vector<T>{} : cosine;
  normalize<T, 4>(out);
}

struct BetweenVectors {
  static constexpr int kInputs[] = {3, 3}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> a[3] = {in[0], in[1], in[2]}, b[3] = {in[3], in[4], in[5]};
    const Mask<T> refused = normalize<T, 3>(a) | normalize<T, 3>(b);
    shortest_turn<T>(a, b, out);
    return refused;
  }
};

// Turns +Z onto the direction and +Y as near to `up` as that allows. Where `up` is along the
// direction (to within rounding) it says nothing, and the turn is the shortest.
struct LookAt {
  static constexpr int kInputs[] = {3, 3}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> z[3] = {in[0], in[1], in[2]}, up[3] = {in[3], in[4], in[5]}, x[3], y[3], shortest[4];
    const Mask<T> refused = normalize<T, 3>(z) | normalize<T, 3>(up);
    cross(up, z, x);
    const T rounding = sizeof(T) == 4 ? static_cast<T>(0x1p-21) : static_cast<T>(0x1p-50);
    const Mask<T> silent = square<T, 3>(x) <= rounding * rounding;
    normalize<T, 3>(x);
    // A short cross product is off by its rounding: across the direction to the last digit again.
    const Vector<T> along = dot3(x, z);
    for (int i = 0; i < 3; ++i) x[i] -= along * z[i];
    cross(z, x, y);
    const Vector<T> m[9] = {x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]};
    quaternion_of<T>(m, out);
    const Vector<T> forward[3] = {Vector<T>{}, Vector<T>{}, splat<T>(1)};
    shortest_turn<T>(forward, z, shortest);
    for (int i = 0; i < 4; ++i) out[i] = silent ? shortest[i] : out[i];
    return refused;
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
