#pragma once
// Orientation from an IMU, one step: src/bunraku/rotation/filters.py says what the numbers are.

#include "rotation/axis_angle.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

// a × u, which turns the estimated up u (+Y in the sensor's axes) onto the measured one, a, as long
// as its sine; nothing where the acceleration is zero. Refused: one that is not finite.
template <class T>
BUNRAKU_LANES Mask<T> tilt_error(const Vector<T> q[4], const Vector<T> acceleration[3], Vector<T> tilt[3]) {
  Vector<T> a[3] = {acceleration[0], acceleration[1], acceleration[2]}, back[4], up[3];
  const Vector<T> y[3] = {Vector<T>{}, splat<T>(1), Vector<T>{}};
  const Mask<T> nowhere = normalize<T, 3>(a);
  conjugate(q, back);
  rotate(back, y, up);
  cross(a, up, tilt);
  for (int i = 0; i < 3; ++i) tilt[i] = nowhere ? Vector<T>{} : tilt[i];
  return not_finite<T, 3>(acceleration);
}

// normalize(q exp(rate dt)), the rate in the sensor's axes.
template <class T>
BUNRAKU_LANES Mask<T> turned(const Vector<T> q[4], const Vector<T> rate[3], const Vector<T>& dt, Vector<T> out[4]) {
  const Vector<T> v[3] = {rate[0] * dt, rate[1] * dt, rate[2] * dt};
  Vector<T> turn[4];
  const Mask<T> refused = exponential<T>(v, turn);
  multiply(q, turn, out);
  return refused | normalize<T, 4>(out);
}

// Quaternion, gyroscope, accelerometer, dt, gain.
struct Madgwick {
  static constexpr int kInputs[] = {4, 3, 3, 1, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> tilt[3], rate[3];
    const Mask<T> refused = tilt_error<T>(in, in + 7, tilt);
    const Mask<T> level = normalize<T, 3>(tilt);
    for (int i = 0; i < 3; ++i) rate[i] = in[4 + i] + static_cast<T>(2) * in[11] * (level ? Vector<T>{} : tilt[i]);
    return refused | turned<T>(in, rate, in[10], out);
  }
};

// Quaternion, bias, gyroscope, accelerometer, dt, proportional, integral; the new bias too.
struct Mahony {
  static constexpr int kInputs[] = {4, 3, 3, 3, 1, 1, 1}, kOutputs[] = {4, 3};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    Vector<T> tilt[3], rate[3];
    const Mask<T> refused = tilt_error<T>(in, in + 10, tilt);
    for (int i = 0; i < 3; ++i) {
      out[4 + i] = in[4 + i] - in[15] * in[13] * tilt[i];
      rate[i] = in[7 + i] - out[4 + i] + in[14] * tilt[i];
    }
    return refused | turned<T>(in, rate, in[13], out) | not_finite<T, 3>(out + 4);
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
