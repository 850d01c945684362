#pragma once
// Vectors of kLanes floats: loads, stores, square roots, masks and transposes.
// Included by kernel units only; everything is private to the level's namespace.

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

#include "vectors.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

// Eight lanes at the AVX-512 level too: sixteen frames of 60 joints' rows overflow a
// 32 KB cache, and were no faster where it holds 48 KB.
#if defined(__AVX2__)
inline constexpr int kLanes = 8;
#else
inline constexpr int kLanes = 4;
#endif

typedef float Vec __attribute__((vector_size(kLanes * sizeof(float))));
typedef std::int32_t Mask __attribute__((vector_size(kLanes * sizeof(float))));
typedef float Quad __attribute__((vector_size(16)));

#define BUNRAKU_INLINE inline __attribute__((always_inline))

BUNRAKU_INLINE Vec load(const float* from) {
  Vec v;
  __builtin_memcpy(&v, from, sizeof v);
  return v;
}

BUNRAKU_INLINE void store(float* to, const Vec& v) { __builtin_memcpy(to, &v, sizeof v); }

BUNRAKU_INLINE Vec splat(float x) { return x - Vec{}; }

BUNRAKU_INLINE Vec sqrt(const Vec& v) {
#if defined(__AVX2__)
  return _mm256_sqrt_ps(v);
#elif defined(__SSE2__)
  return _mm_sqrt_ps(v);
#elif defined(__aarch64__)
  return vsqrtq_f32(v);
#else
  Vec r{};
  for (int i = 0; i < kLanes; ++i) r[i] = __builtin_sqrtf(v[i]);
  return r;
#endif
}

BUNRAKU_INLINE Quad load_quad(const float* from) {
  Quad q;
  __builtin_memcpy(&q, from, sizeof q);
  return q;
}

// x, y, z and 1.
BUNRAKU_INLINE Quad load_point(const float* from) {
#if defined(__AVX2__)
  return _mm_blend_ps(_mm_maskload_ps(from, _mm_setr_epi32(-1, -1, -1, 0)), _mm_set1_ps(1), 8);
#else
  return Quad{from[0], from[1], from[2], 1};
#endif
}

BUNRAKU_INLINE void store_point(float* to, const Quad& v) {
  typedef double Pair __attribute__((vector_size(16)));
  const double first = reinterpret_cast<Pair>(v)[0];
  __builtin_memcpy(to, &first, sizeof first);
  to[2] = v[2];
}

// sum = a·b + sum, rounded as fused(). The instruction is named because GCC, free to leave the sum
// in any of the three registers, moved sums about in loops that need all sixteen.
BUNRAKU_INLINE void accumulate(Vec& sum, const Vec& a, const Vec& b) {
#if defined(__AVX2__)
  asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
#else
  sum = fused(a, b, sum);
#endif
}

// The same with b in memory, which the instruction reads by itself: the processor counts loads and
// sums alike, four to a cycle at most (Zen 2).
BUNRAKU_INLINE void accumulate(Vec& sum, const Vec& a, const float* b) {
#if defined(__AVX2__)
  typedef float Unaligned __attribute__((vector_size(32), aligned(4), may_alias));
  asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "m"(*reinterpret_cast<const Unaligned*>(b)));
#else
  sum = fused(a, load(b), sum);
#endif
}

// One bit per lane.
BUNRAKU_INLINE unsigned bits(const Mask& mask) {
#if defined(__AVX2__)
  return static_cast<unsigned>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
#elif defined(__SSE2__)
  return static_cast<unsigned>(_mm_movemask_ps(reinterpret_cast<__m128>(mask)));
#else
  unsigned r = 0;
  for (int i = 0; i < kLanes; ++i) r |= static_cast<unsigned>(mask[i] & 1) << i;
  return r;
#endif
}

inline constexpr unsigned kAllBits = (1u << kLanes) - 1;

BUNRAKU_INLINE Vec negate_where(const Mask& mask, const Vec& v) {
  return reinterpret_cast<Vec>(reinterpret_cast<Mask>(v) ^ (mask & INT32_MIN));
}

// rows[i][j] = source[j * stride + i] for a kLanes × kLanes block.
BUNRAKU_INLINE void transposed(const float* source, std::int64_t stride, Vec (&rows)[kLanes]) {
#if defined(__AVX2__)
  // Halves of rows 0…3 beside halves of rows 4…7, so that no later shuffle crosses a half.
  Vec h[8];
  for (int i = 0; i < 4; ++i) {
    for (int half = 0; half < 2; ++half) {
      Quad low, high;
      __builtin_memcpy(&low, source + i * stride + 4 * half, sizeof low);
      __builtin_memcpy(&high, source + (i + 4) * stride + 4 * half, sizeof high);
      h[i + 4 * half] = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
    }
  }
  for (int half = 0; half < 8; half += 4) {
    const Vec a = __builtin_shufflevector(h[half], h[half + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    const Vec b = __builtin_shufflevector(h[half], h[half + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    const Vec c = __builtin_shufflevector(h[half + 2], h[half + 3], 0, 8, 1, 9, 4, 12, 5, 13);
    const Vec d = __builtin_shufflevector(h[half + 2], h[half + 3], 2, 10, 3, 11, 6, 14, 7, 15);
    rows[half + 0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
    rows[half + 1] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
    rows[half + 2] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
    rows[half + 3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
  }
#else
  const Vec r0 = load(source), r1 = load(source + stride);
  const Vec r2 = load(source + 2 * stride), r3 = load(source + 3 * stride);
  const Vec a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5);
  const Vec b = __builtin_shufflevector(r0, r1, 2, 6, 3, 7);
  const Vec c = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
  const Vec d = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
  rows[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  rows[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  rows[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  rows[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
#endif
}

// Three components of kLanes vertices, held vertex by vertex, into one vector each, and back.
BUNRAKU_INLINE void deinterleave(const float* from, Vec (&xyz)[3]) {
  const Vec a = load(from), b = load(from + kLanes), c = load(from + 2 * kLanes);
#if defined(__AVX2__)
  const Vec x = __builtin_shufflevector(a, b, 0, 3, 6, 9, 12, 15, -1, -1);
  const Vec y = __builtin_shufflevector(a, b, 1, 4, 7, 10, 13, -1, -1, -1);
  const Vec z = __builtin_shufflevector(a, b, 2, 5, 8, 11, 14, -1, -1, -1);
  xyz[0] = __builtin_shufflevector(x, c, 0, 1, 2, 3, 4, 5, 10, 13);
  xyz[1] = __builtin_shufflevector(y, c, 0, 1, 2, 3, 4, 8, 11, 14);
  xyz[2] = __builtin_shufflevector(z, c, 0, 1, 2, 3, 4, 9, 12, 15);
#else
  const Vec x = __builtin_shufflevector(a, b, 0, 3, 6, -1);
  const Vec y = __builtin_shufflevector(a, b, 1, 4, 7, -1);
  const Vec z = __builtin_shufflevector(a, b, 2, 5, -1, -1);
  xyz[0] = __builtin_shufflevector(x, c, 0, 1, 2, 5);
  xyz[1] = __builtin_shufflevector(y, c, 0, 1, 2, 6);
  xyz[2] = __builtin_shufflevector(z, c, 0, 1, 4, 7);
#endif
}

BUNRAKU_INLINE void interleave(const Vec (&xyz)[3], float* to) {
  const Vec &x = xyz[0], &y = xyz[1], &z = xyz[2];
#if defined(__AVX2__)
  // Within halves first: x0 x2 y0 y2 …, then whole halves change places; no shuffle that
  // crosses halves lane by lane, which cost twice as much.
  const Vec xy = __builtin_shufflevector(x, y, 0, 2, 8, 10, 4, 6, 12, 14);
  const Vec yz = __builtin_shufflevector(y, z, 1, 3, 9, 11, 5, 7, 13, 15);
  const Vec zx = __builtin_shufflevector(z, x, 0, 2, 9, 11, 4, 6, 13, 15);
  const Vec a = __builtin_shufflevector(xy, zx, 0, 2, 8, 10, 4, 6, 12, 14);
  const Vec b = __builtin_shufflevector(yz, xy, 0, 2, 9, 11, 4, 6, 13, 15);
  const Vec c = __builtin_shufflevector(zx, yz, 1, 3, 9, 11, 5, 7, 13, 15);
  store(to, __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11));
  store(to + 8, __builtin_shufflevector(c, a, 0, 1, 2, 3, 12, 13, 14, 15));
  store(to + 16, __builtin_shufflevector(b, c, 4, 5, 6, 7, 12, 13, 14, 15));
#else
  const Vec a = __builtin_shufflevector(x, y, 0, 4, -1, 1);
  const Vec b = __builtin_shufflevector(x, y, 5, -1, 2, 6);
  const Vec c = __builtin_shufflevector(x, y, -1, 3, 7, -1);
  store(to, __builtin_shufflevector(a, z, 0, 1, 4, 3));
  store(to + 4, __builtin_shufflevector(b, z, 0, 5, 2, 3));
  store(to + 8, __builtin_shufflevector(c, z, 6, 1, 2, 7));
#endif
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
