#pragma once
// The smallest three components in 32 or 48 bits: src/bunraku/rotation/packing.py has the layout.

#include "rotation/quaternion.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

// Whole numbers as lanes of the real type, and back: adding 1.5 · 2^mantissa leaves them in the bits.
template <class T>
BUNRAKU_LANES Vector<T> to_real(const Mask<T>& whole) {
  const Vector<T> shift = splat<T>(Fit<T>::kRounding);
  return (Vector<T>)((Mask<T>)shift + whole) - shift;
}

template <class T>
BUNRAKU_LANES Mask<T> to_whole(const Vector<T>& real) {
  const Vector<T> shift = splat<T>(Fit<T>::kRounding);
  return (Mask<T>)(real + shift) - (Mask<T>)shift;
}

// The number of the component left out, the first largest one, and 0 … 2 kSteps for each other.
template <class T, int kSteps>
BUNRAKU_LANES Mask<T> smallest_three(const Vector<T> in[4], Mask<T>& left_out, Mask<T> three[3]) {
  Vector<T> q[4] = {in[0], in[1], in[2], in[3]};
  const Mask<T> refused = normalize<T, 4>(q);
  Vector<T> dropped = q[0];
  left_out = Mask<T>{};
  for (int i = 1; i < 4; ++i) {
    const Mask<T> larger = absolute<T>(q[i]) > absolute<T>(dropped);
    dropped = larger ? q[i] : dropped;
    left_out = larger ? Mask<T>{} + i : left_out;
  }
  const Vector<T> end = splat<T>(kSteps);
  for (int i = 0; i < 3; ++i) {
    const Vector<T> kept = negate_where(dropped < 0, left_out <= i ? q[i + 1] : q[i]);
    const Vector<T> scaled = kept * static_cast<T>(1.41421356237309504880 * kSteps);
    three[i] = to_whole<T>(smallest(largest(scaled, -end), end)) + kSteps;
  }
  return refused;
}

// Refused: numbers that no rotation has.
template <class T, int kSteps>
BUNRAKU_LANES Mask<T> restored(const Mask<T>& left_out, const Mask<T> three[3], Vector<T> out[4]) {
  Vector<T> kept[3];
  Mask<T> refused{};
  for (int i = 0; i < 3; ++i) {
    refused |= three[i] > 2 * kSteps;
    kept[i] = to_real<T>(three[i] - kSteps) * static_cast<T>(0.70710678118654752440 / kSteps);
  }
  const Vector<T> rest = static_cast<T>(1) - square<T, 3>(kept), dropped = root(rest);
  for (int i = 0; i < 4; ++i) {
    const Vector<T> before = kept[i > 0 ? i - 1 : 0], at = kept[i < 3 ? i : 2];
    out[i] = left_out == i ? dropped : (left_out < i ? before : at);
  }
  return refused | (rest < 0);
}

struct Pack32 {
  using To = std::uint32_t;
  static constexpr int kInputs[] = {4}, kOutputs[] = {1};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Mask<T> number, three[3];
    const Mask<T> refused = smallest_three<T, 511>(in, number, three);
    for (int i = 0; i < 3; ++i) number = number << 10 | three[i];
    out[0] = (Vector<T>)number;
    return refused;
  }
};

struct Unpack32 {
  using From = std::uint32_t;
  static constexpr int kInputs[] = {1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Mask<T> number = (Mask<T>)in[0];
    const Mask<T> three[3] = {number >> 20 & 1023, number >> 10 & 1023, number & 1023};
    return restored<T, 511>(number >> 30 & 3, three, out);
  }
};

struct Pack48 {
  using To = std::uint16_t;
  static constexpr int kInputs[] = {4}, kOutputs[] = {3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Mask<T> left_out, three[3];
    const Mask<T> refused = smallest_three<T, 16383>(in, left_out, three);
    out[0] = (Vector<T>)(three[0] | left_out >> 1 << 15);
    out[1] = (Vector<T>)(three[1] | (left_out & 1) << 15);
    out[2] = (Vector<T>)three[2];
    return refused;
  }
};

struct Unpack48 {
  using From = std::uint16_t;
  static constexpr int kInputs[] = {3}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Mask<T> words[3], three[3];
    for (int i = 0; i < 3; ++i) {
      words[i] = (Mask<T>)in[i];
      three[i] = words[i] & 0x7fff;
    }
    return restored<T, 16383>((words[0] >> 15 << 1) | (words[1] >> 15), three, out);
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
