#pragma once
// Between two quaternions a and b, at t.

#include "rotation/quaternion.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

// b's sign such that the arc from a is the shorter one; a product of exactly 0 leaves it.
template <class T>
BUNRAKU_LANES void turn_towards(const Vector<T> a[4], Vector<T> b[4]) {
  const Mask<T> away = dot4(a, b) < 0;
  for (int i = 0; i < 4; ++i) b[i] = negate_where(away, b[i]);
}

// From p towards q by the part u <= 1/2 of the arc between them, which is at most 90 degrees: p and
// q weigh cos uθ - cot θ sin uθ and sin uθ / sin θ. With x = |q - p| and y = |q + p|, tan(θ/2) is
// x/y to full precision, however near the two are. (An arccosine of the dot product is off by 2e-5
// there in float.) For u = 1/2 both weights are 1/y, so that the order of the ends cannot
// matter.
template <class T>
BUNRAKU_LANES void along_short_arc(const Vector<T> p[4], const Vector<T> q[4], const Vector<T>& u, Vector<T> out[4]) {
  Vector<T> gap[4], sum[4];
  for (int i = 0; i < 4; ++i) {
    gap[i] = q[i] - p[i];
    sum[i] = q[i] + p[i];
  }
  const Vector<T> xx = square<T, 4>(gap), yy = square<T, 4>(sum);
  const Vector<T> x = root(xx), y = root(yy);
  const Mask<T> still = xx < Float<T>::kSquareLow;
  const Vector<T> theta = static_cast<T>(2) * angle_in_first_quadrant<T>(x, y);
  Vector<T> sine, cosine;
  sine_and_cosine<T>(u * theta, sine, cosine);
  const Vector<T> twice_x = x + x;
  const Vector<T> inverse = static_cast<T>(1) / (still ? splat<T>(1) : twice_x * y);
  const Vector<T> scale = sine * inverse, halfway = twice_x * inverse;
  const Mask<T> middle = u == static_cast<T>(0.5);
  const Vector<T> to_p = middle ? halfway : cosine - scale * (yy - xx);
  const Vector<T> to_q = middle ? halfway : scale * (xx + yy);
  for (int i = 0; i < 4; ++i) out[i] = still ? p[i] + u * gap[i] : to_p * p[i] + to_q * q[i];
}

struct Lerp {
  static constexpr int kInputs[] = {4, 4, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Vector<T> t = in[8], rest = static_cast<T>(1) - t;
    for (int i = 0; i < 4; ++i) out[i] = rest * in[i] + t * in[i + 4];
    return Mask<T>{};
  }
};

// Option 1: the shorter way; 0: b as it is stored.
struct Nlerp {
  static constexpr int kInputs[] = {4, 4, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int shortest) {
    Vector<T> b[4] = {in[4], in[5], in[6], in[7]};
    if (shortest) turn_towards<T>(in, b);
    const Vector<T> t = in[8], rest = static_cast<T>(1) - t;
    for (int i = 0; i < 4; ++i) out[i] = rest * in[i] + t * b[i];
    return normalize<T, 4>(out);
  }
};

// The shorter way, measured from the nearer end.
template <class T>
BUNRAKU_LANES void slerp(const Vector<T> a[4], const Vector<T> target[4], const Vector<T>& t, Vector<T> out[4]) {
  Vector<T> b[4] = {target[0], target[1], target[2], target[3]}, near[4], far[4];
  turn_towards<T>(a, b);
  const Mask<T> second = t > static_cast<T>(0.5);
  const Vector<T> u = second ? static_cast<T>(1) - t : t;
  for (int i = 0; i < 4; ++i) {
    near[i] = second ? b[i] : a[i];
    far[i] = second ? a[i] : b[i];
  }
  along_short_arc<T>(near, far, u, out);
}

struct Slerp {
  static constexpr int kInputs[] = {4, 4, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    slerp<T>(in, in + 4, in[8], out);
    return Mask<T>{};
  }
};

// By an angle of at most the third input, which is refused when negative or NaN.
struct Toward {
  static constexpr int kInputs[] = {4, 4, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Vector<T> angle = angle_between<T>(in, in + 4);
    const Mask<T> far = angle > in[8];
    slerp<T>(in, in + 4, far ? in[8] / (far ? angle : splat<T>(1)) : splat<T>(1), out);
    return ~(in[8] >= 0);
  }
};

// By a part of the way, which is refused outside [0, 1].
struct TowardPart {
  static constexpr int kInputs[] = {4, 4, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    slerp<T>(in, in + 4, in[8], out);
    return ~((in[8] >= 0) & (in[8] <= 1));
  }
};

// The C library's, one lane at a time.
BUNRAKU_LANES float exponential_less_one(float x) { return __builtin_expm1f(x); }
BUNRAKU_LANES double exponential_less_one(double x) { return __builtin_expm1(x); }

// All of the way but 2^(-dt / half-life), the inputs after the quaternions being half-life and dt.
struct Damp {
  static constexpr int kInputs[] = {4, 4, 1, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Mask<T> fine = (in[8] > 0) & (in[9] >= 0);
    const Vector<T> lives = in[9] / (fine ? in[8] : splat<T>(1));
    T parts[Lanes<T>::kCount];
    for (int l = 0; l < Lanes<T>::kCount; ++l) {
      parts[l] = -exponential_less_one(static_cast<T>(-0.69314718055994530942) * lives[l]);
    }
    slerp<T>(in, in + 4, load<Vector<T>>(parts), out);
    return ~(fine & (lives >= 0));
  }
};

// b as it is stored, up to a full turn away: the arc is halved first. Nearly opposite, a + b is so
// short that rounding in |a| and |b| tilts it, so it is stood upright on b - a. Where nothing but
// rounding is left of it the way is a full turn about the local Z axis.
struct SlerpAsStored {
  static constexpr int kInputs[] = {4, 4, 1}, kOutputs[] = {4};
  template <class T>
  BUNRAKU_LANES static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int) {
    const Vector<T>*a = in, *b = in + 4;
    const T rounding = sizeof(T) == 4 ? static_cast<T>(0x1p-21) : static_cast<T>(0x1p-50);
    Vector<T> gap[4], middle[4], near[4];
    for (int i = 0; i < 4; ++i) {
      gap[i] = b[i] - a[i];
      middle[i] = a[i] + b[i];
    }
    const Vector<T> xx = square<T, 4>(gap);
    const Mask<T> wide = xx > square<T, 4>(middle);
    const Vector<T> tilt = dot4(middle, gap) / (wide ? xx : splat<T>(1));
    for (int i = 0; i < 4; ++i) middle[i] = wide ? middle[i] - tilt * gap[i] : middle[i];
    const Vector<T> y = root(square<T, 4>(middle));
    const Mask<T> opposite = y <= rounding;
    const Vector<T> z_turn[4] = {a[1], -a[0], a[3], -a[2]};
    for (int i = 0; i < 4; ++i) middle[i] = opposite ? z_turn[i] : middle[i] / (opposite ? splat<T>(1) : y);
    // Twice t within the half that t lies in, then measured from the nearer end of that half.
    const Mask<T> second = in[8] > static_cast<T>(0.5);
    const Vector<T> u = static_cast<T>(2) * (second ? static_cast<T>(1) - in[8] : in[8]);
    for (int i = 0; i < 4; ++i) near[i] = second ? b[i] : a[i];
    const Mask<T> beyond = u > static_cast<T>(0.5);
    Vector<T> from[4], to[4];
    for (int i = 0; i < 4; ++i) {
      from[i] = beyond ? middle[i] : near[i];
      to[i] = beyond ? near[i] : middle[i];
    }
    along_short_arc<T>(from, to, beyond ? static_cast<T>(1) - u : u, out);
    return Mask<T>{};
  }
};

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
