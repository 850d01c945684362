#pragma once
// Several frames side by side: lane l of a vector is frame l of a group.
//
// Poses lie in memory frame by frame, so groups are transposed on their way in and out: four
// numbers of each of `kCount` frames become four vectors of `kCount` lanes. `T` is the number's
// type; the vector is as wide as the level's registers. `rows[l]` points to the numbers of lane l:
// an array of pointers, or `Rows`.

#include <cstdint>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace bunraku::BUNRAKU_LEVEL {

// A vector that may start at any number, not only at multiples of its own size.
template <class V, class T>
inline V load(const T* from) {
  typedef V Unaligned __attribute__((aligned(alignof(T)), may_alias));
  return *reinterpret_cast<const Unaligned*>(from);
}

template <class V, class T>
inline void store(T* to, V value) {
  typedef V Unaligned __attribute__((aligned(alignof(T)), may_alias));
  *reinterpret_cast<Unaligned*>(to) = value;
}

// A row of numbers for each lane, `stride` apart. Lanes beyond `last` repeat its row, so that a
// group of fewer frames needs no code of its own: they read and write the same numbers again.
template <class T>
struct Rows {
  T* first;
  std::int64_t stride;
  int last;

  T* operator[](int lane) const { return first + (lane < last ? lane : last) * stride; }
};

template <class T>
struct Lanes;

typedef float Float4 __attribute__((vector_size(16)));
typedef double Double2 __attribute__((vector_size(16)));

#ifdef __AVX2__

typedef float Float8 __attribute__((vector_size(32)));
typedef double Double4 __attribute__((vector_size(32)));

// Four numbers in both halves. This and a blend put halves of rows together without the unit that
// moves across halves, which stores need too (Zen 2).
inline Float8 twice(const float* from) { return _mm256_broadcast_ps(reinterpret_cast<const __m128*>(from)); }
inline Double4 twice(const double* from) { return _mm256_broadcast_pd(reinterpret_cast<const __m128d*>(from)); }

// a·b + c, rounded once where the level has an instruction for it, here and below.
inline Float8 fused(Float8 a, Float8 b, Float8 c) { return _mm256_fmadd_ps(a, b, c); }
inline Double4 fused(Double4 a, Double4 b, Double4 c) { return _mm256_fmadd_pd(a, b, c); }

template <>
struct Lanes<float> {
  using Vector = Float8;
  static constexpr int kCount = 8;

  // Within each half: rows to columns or back, four by four.
  static void transpose(Vector v[4]) {
    const Vector a = __builtin_shufflevector(v[0], v[1], 0, 8, 1, 9, 4, 12, 5, 13);
    const Vector b = __builtin_shufflevector(v[0], v[1], 2, 10, 3, 11, 6, 14, 7, 15);
    const Vector c = __builtin_shufflevector(v[2], v[3], 0, 8, 1, 9, 4, 12, 5, 13);
    const Vector d = __builtin_shufflevector(v[2], v[3], 2, 10, 3, 11, 6, 14, 7, 15);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
    v[1] = __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
    v[2] = __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
  }

  template <class R>
  static void gather(const R& rows, Vector v[4]) {
    for (int i = 0; i < 4; ++i) v[i] = _mm256_blend_ps(twice(rows[i]), twice(rows[i + 4]), 0xf0);
    transpose(v);
  }

  template <class R>
  static void scatter(Vector v[4], const R& rows, int count = kCount) {
    transpose(v);
    for (int i = 0; i < 4; ++i) {
      if (i < count) store(rows[i], __builtin_shufflevector(v[i], v[i], 0, 1, 2, 3));
      if (i + 4 < count) store(rows[i + 4], __builtin_shufflevector(v[i], v[i], 4, 5, 6, 7));
    }
  }
};

template <>
struct Lanes<double> {
  using Vector = Double4;
  static constexpr int kCount = 4;

  static void transpose(Vector v[4]) {
    const Vector a = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6);
    const Vector b = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
    const Vector c = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6);
    const Vector d = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    v[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
  }

  template <class R>
  static void gather(const R& rows, Vector v[4]) {
    const Vector a = _mm256_blend_pd(load<Vector>(rows[0]), twice(rows[2]), 12);
    const Vector b = _mm256_blend_pd(load<Vector>(rows[1]), twice(rows[3]), 12);
    const Vector c = _mm256_blend_pd(twice(rows[0] + 2), load<Vector>(rows[2]), 12);
    const Vector d = _mm256_blend_pd(twice(rows[1] + 2), load<Vector>(rows[3]), 12);
    v[0] = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    v[1] = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    v[2] = __builtin_shufflevector(c, d, 0, 4, 2, 6);
    v[3] = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  }

  template <class R>
  static void scatter(Vector v[4], const R& rows, int count = kCount) {
    transpose(v);
    for (int i = 0; i < 4; ++i) {
      if (i < count) store(rows[i], v[i]);
    }
  }
};

#else

#ifdef __aarch64__
inline Float4 fused(Float4 a, Float4 b, Float4 c) { return vfmaq_f32(c, a, b); }
inline Double2 fused(Double2 a, Double2 b, Double2 c) { return vfmaq_f64(c, a, b); }
#else
inline Float4 fused(Float4 a, Float4 b, Float4 c) { return a * b + c; }
inline Double2 fused(Double2 a, Double2 b, Double2 c) { return a * b + c; }
#endif

template <>
struct Lanes<float> {
  using Vector = Float4;
  static constexpr int kCount = 4;

  static void transpose(Vector v[4]) {
    const Vector a = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
    const Vector b = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
    const Vector c = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
    const Vector d = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
    v[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
    v[1] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
    v[2] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
    v[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
  }

  template <class R>
  static void gather(const R& rows, Vector v[4]) {
    for (int i = 0; i < 4; ++i) v[i] = load<Vector>(rows[i]);
    transpose(v);
  }

  template <class R>
  static void scatter(Vector v[4], const R& rows, int count = kCount) {
    transpose(v);
    for (int i = 0; i < 4; ++i) {
      if (i < count) store(rows[i], v[i]);
    }
  }
};

template <>
struct Lanes<double> {
  using Vector = Double2;
  static constexpr int kCount = 2;

  template <class R>
  static void gather(const R& rows, Vector v[4]) {
    for (int half = 0; half < 2; ++half) {
      const Vector a = load<Vector>(rows[0] + 2 * half);
      const Vector b = load<Vector>(rows[1] + 2 * half);
      v[2 * half] = __builtin_shufflevector(a, b, 0, 2);
      v[2 * half + 1] = __builtin_shufflevector(a, b, 1, 3);
    }
  }

  template <class R>
  static void scatter(Vector v[4], const R& rows, int count = kCount) {
    for (int half = 0; half < 2; ++half) {
      const Vector a = v[2 * half], b = v[2 * half + 1];
      store(rows[0] + 2 * half, __builtin_shufflevector(a, b, 0, 2));
      if (count > 1) store(rows[1] + 2 * half, __builtin_shufflevector(a, b, 1, 3));
    }
  }
};

#endif

}  // namespace bunraku::BUNRAKU_LEVEL
