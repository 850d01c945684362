#pragma once
// Three angles about coordinate axes, in all 24 orders.
//
// The option of both operations: first axis | second << 2 | third << 4 | intrinsic << 6, in the
// order in which the angles are given. Turns about the axes of the moving body (intrinsic) are
// turns about fixed axes (extrinsic) in reverse order, so there is one formula.

#include "rotation/quaternion.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

struct EulerOrder {
  int axes[3];    // about fixed axes, the one that turns first first
  int angles[3];  // which of the given angles turns about it

  explicit EulerOrder(int option) {
    const bool intrinsic = (option >> 6 & 1) != 0;
    for (int i = 0; i < 3; ++i) {
      angles[i] = intrinsic ? 2 - i : i;
      axes[i] = option >> 2 * angles[i] & 3;
    }
  }
};

struct FromEuler {
  static constexpr int kInputs[] = {3}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int option) {
    const EulerOrder order(option);
    Mask<T> finite = in[0] == in[0];
    for (int i = 0; i < 3; ++i) {
      finite &= absolute<T>(in[i]) < Float<T>::kInfinity;
      Vector<T> s, c;
      sine_and_cosine<T>(static_cast<T>(0.5) * in[order.angles[i]], s, c);
      const int e = order.axes[i], f = (e + 1) % 3, g = (e + 2) % 3;
      if (i == 0) {
        out[e] = s;
        out[f] = out[g] = Vector<T>{};
        out[3] = c;
        continue;
      }
      // (s about e, c) · out
      const Vector<T> oe = out[e], of = out[f], og = out[g], ow = out[3];
      out[e] = c * oe + s * ow;
      out[f] = c * of - s * og;
      out[g] = c * og + s * of;
      out[3] = c * ow - s * oe;
    }
    return ~finite;
  }
};

// Bernardes and Viollet (2022). Of a quaternion q_k(γ) q_i'(β) q_i(α) two pairs of components have
// the lengths cos(β/2) and sin(β/2) and the angles (α + γ)/2 and (γ - α)/2; where three different
// axes turn, a quarter turn about the middle one makes it so. Where one pair vanishes (gimbal lock)
// only the sum or the difference of the outer angles is known: the third angle given is then 0.
template <class T>
struct EulerPairs {
  EulerOrder order;
  bool proper;  // the first axis turns again
  T sign;
  Vector<T> a, b, c, d, middle;
  Mask<T> low, high, refused;

  BUNRAKU_LANES EulerPairs(const Vector<T> in[4], int option) : order(option) {
    const T lock = sizeof(T) == 4 ? static_cast<T>(1e-6) : static_cast<T>(1e-7);
    const int i = order.axes[0], j = order.axes[1], k = 3 - i - j;
    proper = order.axes[0] == order.axes[2];
    sign = static_cast<T>((j - i + 3) % 3 == 1 ? 1 : -1);
    Vector<T> q[4] = {in[0], in[1], in[2], in[3]}, squared;
    refused = rescale<T, 4>(q, squared);
    const Vector<T> last = sign * q[k];
    a = proper ? q[3] : q[3] - q[j];
    b = proper ? q[i] : q[i] + last;
    c = proper ? q[j] : q[3] + q[j];
    d = proper ? last : last - q[i];
    middle = static_cast<T>(2) * angle_in_first_quadrant<T>(root(c * c + d * d), root(a * a + b * b));
    low = middle <= lock;
    high = 2 * Fit<T>::kQuarter - middle <= lock;
  }
};

struct ToEuler {
  static constexpr int kInputs[] = {4}, kOutputs[] = {3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int option) {
    const EulerPairs<T> pairs(in, option);
    const EulerOrder& order = pairs.order;
    const T pi = 2 * Fit<T>::kQuarter;
    const Mask<T>&low = pairs.low, &high = pairs.high;
    const Vector<T> half_sum = angle_of<T>(pairs.b, pairs.a), half_difference = angle_of<T>(pairs.d, pairs.c);

    const bool intrinsic = order.angles[0] == 2;
    Vector<T> first = half_sum - half_difference, third = half_sum + half_difference;
    Vector<T>& given_first = intrinsic ? third : first;
    Vector<T>& given_last = intrinsic ? first : third;
    const T way = static_cast<T>(intrinsic ? 2 : -2);
    given_first = low ? static_cast<T>(2) * half_sum : (high ? way * half_difference : given_first);
    given_last = low | high ? Vector<T>{} : given_last;
    if (!pairs.proper) third *= pairs.sign;

    Vector<T> angles[3] = {first, pairs.proper ? pairs.middle : pairs.middle - Fit<T>::kQuarter, third};
    for (int n = 0; n < 3; n += 2) {
      angles[n] = angles[n] > pi ? angles[n] - 2 * pi : angles[n];
      angles[n] = angles[n] < -pi ? angles[n] + 2 * pi : angles[n];
    }
    for (int n = 0; n < 3; ++n) out[order.angles[n]] = angles[n];
    return pairs.refused;
  }
};

struct GimbalLocked {
  using To = std::uint8_t;
  static constexpr int kInputs[] = {4}, kOutputs[] = {1};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int option) {
    const EulerPairs<T> pairs(in, option);
    out[0] = (Vector<T>)((pairs.low | pairs.high) & 1);
    return pairs.refused;
  }
};

// The same with an array for each angle.
struct FromThreeAngles {
  static constexpr int kInputs[] = {1, 1, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int option) {
    return FromEuler::apply<T>(in, out, option);
  }
};

struct ToThreeAngles {
  static constexpr int kInputs[] = {4}, kOutputs[] = {1, 1, 1};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int option) {
    return ToEuler::apply<T>(in, out, option);
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
