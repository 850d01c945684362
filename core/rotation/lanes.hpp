#pragma once
// Arithmetic on vectors whose lane l is element l of a group.

#include <cstdint>

#include "vectors.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace bunraku::BUNRAKU_LEVEL::rotation {

#define BUNRAKU_LANES [[gnu::always_inline]] inline

template <class T>
using Vector = typename Lanes<T>::Vector;

// All bits of a lane set or none: what comparing two vectors gives.
template <class T>
using Mask = decltype(Vector<T>{} < Vector<T>{});

template <class T>
struct Float;

template <>
struct Float<float> {
  using Bits = std::int32_t;
  static constexpr Bits kSign = INT32_MIN, kExponent = 0x7f800000, kOneExponent = 0x3f800000;
  static constexpr Bits kLargestScaled = 253 << 23;
  static constexpr float kEpsilon = 0x1p-23f, kSmallestNormal = 0x1p-126f, kInfinity = __builtin_inff();
  static constexpr float kSquareLow = 0x1p-80f, kSquareHigh = 0x1p80f;  // squares that lost no digit
};

template <>
struct Float<double> {
  using Bits = std::int64_t;
  static constexpr Bits kSign = INT64_MIN, kExponent = 0x7ff0000000000000, kOneExponent = 0x3ff0000000000000;
  static constexpr Bits kLargestScaled = Bits{2045} << 52;
  static constexpr double kEpsilon = 0x1p-52, kSmallestNormal = 0x1p-1022, kInfinity = __builtin_inf();
  static constexpr double kSquareLow = 0x1p-800, kSquareHigh = 0x1p800;
};

template <class T>
BUNRAKU_LANES Vector<T> splat(T x) {
  return x - Vector<T>{};
}

template <class V, class M>
BUNRAKU_LANES V negate_where(const M& mask, const V& v) {
  return (V)((M)v ^ (mask & ((M)(-V{}))));
}

template <class T>
BUNRAKU_LANES Vector<T> absolute(const Vector<T>& v) {
  return (Vector<T>)((Mask<T>)v & ~Float<T>::kSign);
}

template <class V>
BUNRAKU_LANES V largest(const V& a, const V& b) {
  return a > b ? a : b;
}

template <class V>
BUNRAKU_LANES V smallest(const V& a, const V& b) {
  return a < b ? a : b;
}

template <class M>
BUNRAKU_LANES bool any(const M& mask) {
#if defined(__AVX2__)
  return _mm256_movemask_epi8(reinterpret_cast<__m256i>(mask)) != 0;
#elif defined(__SSE2__)
  return _mm_movemask_epi8(reinterpret_cast<__m128i>(mask)) != 0;
#else
  auto bits = mask[0];
  for (unsigned l = 1; l < sizeof(M) / sizeof(bits); ++l) bits |= mask[l];
  return bits != 0;
#endif
}

#if defined(__AVX2__)
BUNRAKU_LANES Vector<float> root(const Vector<float>& v) { return _mm256_sqrt_ps(v); }
BUNRAKU_LANES Vector<double> root(const Vector<double>& v) { return _mm256_sqrt_pd(v); }
#elif defined(__SSE2__)
BUNRAKU_LANES Vector<float> root(const Vector<float>& v) { return _mm_sqrt_ps(v); }
BUNRAKU_LANES Vector<double> root(const Vector<double>& v) { return _mm_sqrt_pd(v); }
#elif defined(__aarch64__)
BUNRAKU_LANES Vector<float> root(const Vector<float>& v) { return vsqrtq_f32(v); }
BUNRAKU_LANES Vector<double> root(const Vector<double>& v) { return vsqrtq_f64(v); }
#else
BUNRAKU_LANES Vector<float> root(const Vector<float>& v) {
  Vector<float> r{};
  for (int l = 0; l < Lanes<float>::kCount; ++l) r[l] = __builtin_sqrtf(v[l]);
  return r;
}
BUNRAKU_LANES Vector<double> root(const Vector<double>& v) {
  Vector<double> r{};
  for (int l = 0; l < Lanes<double>::kCount; ++l) r[l] = __builtin_sqrt(v[l]);
  return r;
}
#endif

// Lanes with a number that is infinite or NaN.
template <class T, int N>
BUNRAKU_LANES Mask<T> not_finite(const Vector<T> v[N]) {
  Mask<T> finite = absolute<T>(v[0]) < Float<T>::kInfinity;
  for (int i = 1; i < N; ++i) finite &= absolute<T>(v[i]) < Float<T>::kInfinity;
  return ~finite;
}

template <class V>
BUNRAKU_LANES V dot3(const V a[3], const V b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

template <class V>
BUNRAKU_LANES V dot4(const V a[4], const V b[4]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
}

template <class V>
BUNRAKU_LANES void cross(const V a[3], const V b[3], V out[3]) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

template <class T, int N>
BUNRAKU_LANES Vector<T> square(const Vector<T> v[N]) {
  if constexpr (N == 4) return (v[0] * v[0] + v[1] * v[1]) + (v[2] * v[2] + v[3] * v[3]);
  Vector<T> sum = v[0] * v[0];
  for (int i = 1; i < N; ++i) sum += v[i] * v[i];
  return sum;
}

// Multiplies v, where its square would over- or underflow, by a power of two (exactly) so that it
// does not. Returns the square, and the lanes that have no direction: length zero, subnormal,
// infinite or NaN.
template <class T, int N>
BUNRAKU_LANES Mask<T> rescale(Vector<T> v[N], Vector<T>& squared) {
  using F = Float<T>;
  squared = square<T, N>(v);
  if (!any(~((squared > F::kSquareLow) & (squared < F::kSquareHigh)))) return Mask<T>{};
  Vector<T> size = absolute<T>(v[0]);
  for (int i = 1; i < N; ++i) size = largest(size, absolute<T>(v[i]));
  const Mask<T> exponent = (Mask<T>)size & F::kExponent;
  const Mask<T> bounded = exponent > F::kLargestScaled ? F::kLargestScaled - Mask<T>{} : exponent;
  const Vector<T> scale = (Vector<T>)(2 * F::kOneExponent - bounded);
  for (int i = 0; i < N; ++i) v[i] *= scale;
  squared = square<T, N>(v);
  return ~((root(squared) >= F::kSmallestNormal * scale) & (squared < F::kInfinity));
}

// Scales v to length 1; returns the lanes that have no direction.
template <class T, int N>
BUNRAKU_LANES Mask<T> normalize(Vector<T> v[N]) {
  Vector<T> squared;
  const Mask<T> refused = rescale<T, N>(v, squared);
  const Vector<T> size = root(squared);
  for (int i = 0; i < N; ++i) v[i] /= size;
  return refused;
}

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
