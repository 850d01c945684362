#pragma once
// Sine, cosine and arctangent of a vector, to about one unit in the last place.
//
// Only additions, multiplications and divisions in a fixed order, so every instruction set gives
// the same bits. The polynomials are minimax fits (Remez, 60 digits) of our own: relative errors
// of 1.3e-17, 8e-19 and 5e-18 for double, 1.3e-8, 1.3e-9 and 2.6e-9 for float.

#include "rotation/lanes.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

template <class T>
struct Fit;

template <>
struct Fit<double> {
  // (sin r / r - 1) / r² and (cos r - 1 + r²/2) / r⁴ in r² for |r| <= π/4
  static constexpr double kSine[] = {-0.16666666666666666,  0.008333333333330946,   -0.00019841269836753803,
                                     2.7557316099919314e-06, -2.505113127072313e-08, 1.591808644951502e-10};
  static constexpr double kCosine[] = {0.041666666666666664,   -0.0013888888888887395, 2.4801587298762535e-05,
                                       -2.7557317270005504e-07, 2.087614589486701e-09,  -1.1382604696633843e-11};
  // (atan r / r - 1) / r² in r² for r <= tan(π/8)
  static constexpr double kArctangent[] = {-0.3333333333333333,  0.19999999999995774,  -0.14285714284714932,
                                           0.1111111101884979,   -0.09090904713714933, 0.07692186130710371,
                                           -0.06664550264445561, 0.0585846619390682,   -0.05087017210566913,
                                           0.039274537300523514, -0.01922674486796715};
  // π/2 in three parts; a whole number below kManyTurns times the first two is exact
  static constexpr double kHalfPi[] = {0x1.921fb544p+0, 0x1.0b4611a6p-34, 0x1.3198a2e037073p-69};
  static constexpr double kManyTurns = 1e6, kRounding = 0x1.8p52;
  // π/2 once more, as the nearest number and what it lacks
  static constexpr double kQuarter = 0x1.921fb54442d18p+0, kQuarterRest = 0x1.1a62633145c07p-54;
};

template <>
struct Fit<float> {
  static constexpr float kSine[] = {-0.166666641831398f, 0.008332748897373676f, -0.0001958790817297995f};
  static constexpr float kCosine[] = {0.0416666641831398f, -0.001388830365613103f, 2.4547940483898856e-05f};
  static constexpr float kArctangent[] = {-0.3333333134651184f, 0.19999559223651886f, -0.14264501631259918f,
                                          0.10748796164989471f, -0.0646662712097168f};
  static constexpr float kHalfPi[] = {0x1.92p+0f, 0x1.fb4p-12f, 0x1.4442d2p-24f};
  static constexpr float kManyTurns = 5e3f, kRounding = 0x1.8p23f;
  static constexpr float kQuarter = 0x1.921fb6p+0f, kQuarterRest = -0x1.777a5cp-25f;
};

// Pairs, then pairs of pairs (Estrin): a chain of eleven multiplications and additions, each waiting
// for the one before, would leave the processor idle for half the time of a slerp.
template <class V, class T, int N>
BUNRAKU_LANES V polynomial(const T (&coefficients)[N], V x) {
  V terms[N];
  for (int i = 0; i < N; ++i) terms[i] = coefficients[i] - V{};
  for (int count = N; count > 1; count = (count + 1) / 2) {
    for (int i = 0; i < count / 2; ++i) terms[i] = terms[2 * i] + terms[2 * i + 1] * x;
    if (count % 2 != 0) terms[count / 2] = terms[count - 1];
    x *= x;
  }
  return terms[0];
}

// Angles of thousands of turns need π to hundreds of digits: the C library has them.
BUNRAKU_LANES void sine_and_cosine_of_many_turns(float x, float& sine, float& cosine) {
  sine = __builtin_sinf(x);
  cosine = __builtin_cosf(x);
}
BUNRAKU_LANES void sine_and_cosine_of_many_turns(double x, double& sine, double& cosine) {
  sine = __builtin_sin(x);
  cosine = __builtin_cos(x);
}

template <class T>
BUNRAKU_LANES void sine_and_cosine(const Vector<T>& x, Vector<T>& sine, Vector<T>& cosine) {
  using F = Fit<T>;
  // Adding 1.5 · 2^mantissa rounds to a whole number and leaves it in the lowest bits.
  const Vector<T> shifted = x * static_cast<T>(0.63661977236758134308) + F::kRounding;
  const Vector<T> quarters = shifted - F::kRounding;
  const Mask<T> quadrant = (Mask<T>)shifted;
  const Vector<T> r = ((x - quarters * F::kHalfPi[0]) - quarters * F::kHalfPi[1]) - quarters * F::kHalfPi[2];
  const Vector<T> z = r * r;
  const Vector<T> odd = r + r * (z * polynomial(F::kSine, z));
  const Vector<T> half = static_cast<T>(0.5) * z, rest = static_cast<T>(1) - half;
  const Vector<T> even = rest + (((static_cast<T>(1) - rest) - half) + z * z * polynomial(F::kCosine, z));
  const Mask<T> swap = (quadrant & 1) != 0;
  sine = negate_where((quadrant & 2) != 0, swap ? even : odd);
  cosine = negate_where(((quadrant + 1) & 2) != 0, swap ? odd : even);
  const Mask<T> many = absolute<T>(x) > F::kManyTurns;
  if (any(many)) {
    for (int l = 0; l < Lanes<T>::kCount; ++l) {
      if (!many[l]) continue;
      T s, c;
      sine_and_cosine_of_many_turns(x[l], s, c);
      sine[l] = s;
      cosine[l] = c;
    }
  }
}

// The angle of the point (x, y) in the first quadrant, both >= 0; 0 for the origin.
template <class T>
BUNRAKU_LANES Vector<T> angle_in_first_quadrant(const Vector<T>& y, const Vector<T>& x) {
  using F = Fit<T>;
  const Vector<T> low = smallest(y, x), high = largest(y, x);
  // Beyond 22.5 degrees, measured from 45.
  const Mask<T> wide = low > static_cast<T>(0.41421356237309503) * high;
  const Vector<T> numerator = wide ? low - high : low;
  const Vector<T> sum = wide ? low + high : high;
  const Vector<T> r = numerator / (sum == 0 ? splat<T>(1) : sum);
  const Vector<T> z = r * r;
  const Vector<T> near = r + r * (z * polynomial(F::kArctangent, z));
  const T eighth = F::kQuarter / 2, eighth_rest = F::kQuarterRest / 2;
  const Vector<T> angle = wide ? eighth + (near + eighth_rest) : near;
  return y > x ? F::kQuarter - (angle - F::kQuarterRest) : angle;
}

// The angle of the point (x, y), in [-π, π]; 0 for the origin. A negative zero counts as zero.
template <class T>
BUNRAKU_LANES Vector<T> angle_of(const Vector<T>& y, const Vector<T>& x) {
  using F = Fit<T>;
  const Vector<T> angle = angle_in_first_quadrant<T>(absolute<T>(y), absolute<T>(x));
  const Vector<T> turned = x < 0 ? 2 * F::kQuarter - (angle - 2 * F::kQuarterRest) : angle;
  return negate_where(y < 0, turned);
}

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
