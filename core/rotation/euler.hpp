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
struct ToEuler {
  static constexpr int kInputs[] = {4}, kOutputs[] = {3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int option) {
    using F = Fit<T>;
    const EulerOrder order(option);
    const T lock = sizeof(T) == 4 ? static_cast<T>(1e-6) : static_cast<T>(1e-7);
    const T pi = 2 * F::kQuarter;
    const int i = order.axes[0], j = order.axes[1];
    const bool proper = order.axes[0] == order.axes[2];
    const int k = 3 - i - j;
    const T sign = static_cast<T>((j - i + 3) % 3 == 1 ? 1 : -1);

    Vector<T> q[4] = {in[0], in[1], in[2], in[3]}, squared;
    const Mask<T> refused = rescale<T, 4>(q, squared);
    const Vector<T> last = sign * q[k];
    const Vector<T> a = proper ? q[3] : q[3] - q[j], b = proper ? q[i] : q[i] + last;
    const Vector<T> c = proper ? q[j] : q[3] + q[j], d = proper ? last : last - q[i];
    const Vector<T> middle = static_cast<T>(2) *
                             angle_in_first_quadrant<T>(root(c * c + d * d), root(a * a + b * b));
    const Vector<T> half_sum = angle_of<T>(b, a), half_difference = angle_of<T>(d, c);
    const Mask<T> low = middle <= lock, high = pi - middle <= lock;

    const bool intrinsic = order.angles[0] == 2;
    Vector<T> first = half_sum - half_difference, third = half_sum + half_difference;
    Vector<T>& given_first = intrinsic ? third : first;
    Vector<T>& given_last = intrinsic ? first : third;
    const T way = static_cast<T>(intrinsic ? 2 : -2);
    given_first = low ? static_cast<T>(2) * half_sum : (high ? way * half_difference : given_first);
    given_last = low | high ? Vector<T>{} : given_last;
    if (!proper) third *= sign;

    Vector<T> angles[3] = {first, proper ? middle : middle - F::kQuarter, third};
    for (int n = 0; n < 3; n += 2) {
      angles[n] = angles[n] > pi ? angles[n] - 2 * pi : angles[n];
      angles[n] = angles[n] < -pi ? angles[n] + 2 * pi : angles[n];
    }
    for (int n = 0; n < 3; ++n) out[order.angles[n]] = angles[n];
    return refused;
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
