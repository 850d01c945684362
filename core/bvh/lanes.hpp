#pragma once
// Eight floats side by side, at every level: one AVX register, or two narrower ones that the
// compiler makes of a wide vector. Included by kernel units only.

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace bunraku::BUNRAKU_LEVEL::bvh {

#define BUNRAKU_INLINE inline __attribute__((always_inline))

typedef float Eight __attribute__((vector_size(32)));
typedef std::int32_t Mask __attribute__((vector_size(32)));
typedef float Quad __attribute__((vector_size(16)));

BUNRAKU_INLINE Eight load(const float* from) {
#if defined(__AVX2__)
  return _mm256_load_ps(from);
#else
  return *reinterpret_cast<const Eight*>(from);
#endif
}

BUNRAKU_INLINE void store(float* to, const Eight& v) { *reinterpret_cast<Eight*>(to) = v; }

BUNRAKU_INLINE Eight splat(float x) { return x - Eight{}; }

// `b` where either is NaN, as the machine's own instructions have it.
BUNRAKU_INLINE Eight min(const Eight& a, const Eight& b) {
#if defined(__AVX2__)
  return _mm256_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}

BUNRAKU_INLINE Eight max(const Eight& a, const Eight& b) {
#if defined(__AVX2__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}

BUNRAKU_INLINE Eight absolute(const Eight& a) {
  return reinterpret_cast<Eight>(reinterpret_cast<Mask>(a) & INT32_MAX);
}

// a * b + c, rounded once or twice: only for bounds that carry a margin.
BUNRAKU_INLINE Eight about_multiply_add(const Eight& a, const Eight& b, const Eight& c) {
#if defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  return a * b + c;
#endif
}

// One bit per lane.
BUNRAKU_INLINE unsigned bits(const Mask& mask) {
#if defined(__AVX2__)
  return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
#elif defined(__SSE2__)
  typedef std::int32_t Half __attribute__((vector_size(16)));
  const Half low = __builtin_shufflevector(mask, mask, 0, 1, 2, 3);
  const Half high = __builtin_shufflevector(mask, mask, 4, 5, 6, 7);
  return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<__m128>(low)) |
                               _mm_movemask_ps(reinterpret_cast<__m128>(high)) << 4);
#else
  unsigned r = 0;
  for (int i = 0; i < 8; ++i) r |= static_cast<unsigned>(mask[i] & 1) << i;
  return r;
#endif
}

BUNRAKU_INLINE float least(const Eight& v) {
  float r = v[0];
  for (int i = 1; i < 8; ++i) r = v[i] < r ? v[i] : r;
  return r;
}

BUNRAKU_INLINE float greatest(const Eight& v) {
  float r = v[0];
  for (int i = 1; i < 8; ++i) r = v[i] > r ? v[i] : r;
  return r;
}

BUNRAKU_INLINE float magnitude(float x) { return __builtin_fabsf(x); }

BUNRAKU_INLINE int lowest(unsigned mask) { return __builtin_ctz(mask); }

}  // namespace bunraku::BUNRAKU_LEVEL::bvh
