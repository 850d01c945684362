#pragma once
// The one loop that every operation runs in: load a group of elements as vectors, compute, store.
//
// Results are laid down in a tile that stays in the first-level cache and copied from there, past
// the caches when the array is larger than they are: plain stores would read every line of the
// output first, a quarter of all traffic of a product of quaternions.

#include <cstddef>

#include "rotation/lanes.hpp"
#include "rotation/rotation.hpp"

namespace bunraku::BUNRAKU_LEVEL::rotation {

inline constexpr int kTile = 64;

// Several streams at once are more than the hardware's own prefetching keeps up with: 20 % on the
// product of quaternions. Reaching past the end of an array is harmless.
template <class T, int W>
BUNRAKU_LANES void prefetch_group(const T* from) {
  constexpr int kAhead = 512, kLine = 64, kSize = W * Lanes<T>::kCount * static_cast<int>(sizeof(T));
  for (int i = 0; i < kSize; i += kLine) __builtin_prefetch(reinterpret_cast<const char*>(from) + kAhead + i);
}

// `W` numbers each of elements side by side. Three are read as four, one too many.
template <class T, int W>
BUNRAKU_LANES void load_group(const T* from, Vector<T>* v) {
  if constexpr (W == 1) {
    v[0] = load<Vector<T>>(from);
  } else {
    for (int c = 0; c < W; c += 4) {
      const int start = c + 4 <= W || W < 4 ? c : W - 4;
      const T* rows[Lanes<T>::kCount];
      for (int l = 0; l < Lanes<T>::kCount; ++l) rows[l] = from + l * W + start;
      Vector<T> four[4];
      Lanes<T>::gather(rows, four);
      for (int i = c; i < W && i < c + 4; ++i) v[i] = four[i - start];
    }
  }
}

template <class T>
inline constexpr Number kNumber = Number::real;
template <>
inline constexpr Number kNumber<std::uint8_t> = Number::truth;
template <>
inline constexpr Number kNumber<std::uint16_t> = Number::uint16;
template <>
inline constexpr Number kNumber<std::uint32_t> = Number::uint32;

// Whole numbers travel in the bits of a lane.
template <class T, class From>
BUNRAKU_LANES T to_lane(From x) {
  if constexpr (kNumber<From> == Number::real) {
    return x;
  } else {
    const auto bits = static_cast<typename Float<T>::Bits>(x);
    T lane;
    __builtin_memcpy(&lane, &bits, sizeof lane);
    return lane;
  }
}

// One number at a time, for odd strides and ends of arrays; lanes past `count` repeat the last.
template <class T, int W, class From>
BUNRAKU_LANES void load_group_carefully(const From* from, std::int64_t stride, int count, Vector<T>* v) {
  for (int c = 0; c < W; ++c) {
    T lanes[Lanes<T>::kCount];
    for (int l = 0; l < Lanes<T>::kCount; ++l) lanes[l] = to_lane<T>(from[(l < count ? l : count - 1) * stride + c]);
    v[c] = load<Vector<T>>(lanes);
  }
}

// Four numbers of three each, in ascending order: the number too many is overwritten by the next.
#if defined(__AVX2__)
BUNRAKU_LANES void store_threes(float* to, Vector<float> rows[4]) {
  Lanes<float>::transpose(rows);
  for (int l = 0; l < 4; ++l) store(to + 3 * l, __builtin_shufflevector(rows[l], rows[l], 0, 1, 2, 3));
  for (int l = 0; l < 4; ++l) store(to + 12 + 3 * l, __builtin_shufflevector(rows[l], rows[l], 4, 5, 6, 7));
}
BUNRAKU_LANES void store_threes(double* to, Vector<double> rows[4]) {
  Lanes<double>::transpose(rows);
  for (int l = 0; l < 4; ++l) store(to + 3 * l, rows[l]);
}
#else
BUNRAKU_LANES void store_threes(float* to, Vector<float> rows[4]) {
  Lanes<float>::transpose(rows);
  for (int l = 0; l < 4; ++l) store(to + 3 * l, rows[l]);
}
BUNRAKU_LANES void store_threes(double* to, Vector<double> rows[4]) {
  for (int l = 0; l < 2; ++l) {
    for (int c = 0; c < 3; ++c) to[3 * l + c] = rows[c][l];
  }
}
#endif

// Writes whole groups: `to` has room for one number more.
template <class T, int W>
BUNRAKU_LANES void store_group(T* to, const Vector<T>* v) {
  constexpr int kCount = Lanes<T>::kCount;
  Vector<T> four[4];
  if constexpr (W == 1) {
    store(to, v[0]);
  } else if constexpr (W == 3) {
    for (int i = 0; i < 4; ++i) four[i] = v[i < 3 ? i : 2];
    store_threes(to, four);
  } else {
    for (int c = 0; c < W; c += 4) {
      const int start = c + 4 <= W ? c : W - 4;
      T* rows[kCount];
      for (int i = 0; i < 4; ++i) four[i] = v[start + i];
      for (int l = 0; l < kCount; ++l) rows[l] = to + l * W + start;
      Lanes<T>::scatter(four, rows, kCount);
    }
  }
}

template <class T, int W, class To>
BUNRAKU_LANES void store_whole_numbers(To* to, const Vector<T>* v) {
  for (int c = 0; c < W; ++c) {
    for (int l = 0; l < Lanes<T>::kCount; ++l) to[l * W + c] = static_cast<To>(((Mask<T>)v[c])[l]);
  }
}

// Where an output's tile goes. Past the caches only whole lines are written, since half a line costs
// twice as much as a whole one: the tile starts as far into a line as its place in the output does,
// and what does not fill a line at its end waits for the next tile.
template <int kBytes>  // of a full tile, a multiple of the line
struct Sink {
  static constexpr int kLine = 64;
  alignas(kLine) char buffer[kLine + kBytes + kLine];  // and a number more: store_group
  int phase = 0;
  bool stream = false;
  bool first = true;

  BUNRAKU_LANES void open(const void* to, bool past_caches) {
    stream = past_caches;
    if (stream) phase = static_cast<int>(reinterpret_cast<std::uintptr_t>(to) % kLine);
  }

  BUNRAKU_LANES char* tile() { return buffer + phase; }

  BUNRAKU_LANES void put(char* to, int size, bool last) {
    if (!stream) {
      __builtin_memcpy(to, buffer, static_cast<std::size_t>(size));
      return;
    }
    char* const lines = to - phase;
    const int end = phase + size;
    int i = 0;
    if (first && phase > 0) {
      i = end < kLine ? end : kLine;
      __builtin_memcpy(to, buffer + phase, static_cast<std::size_t>(i - phase));
    }
    first = false;
    for (; i + kLine <= end; i += kLine) write_line(lines + i, buffer + i);
    __builtin_memcpy(last ? lines + i : buffer, buffer + i, static_cast<std::size_t>(end - i));
  }

  BUNRAKU_LANES static void write_line(char* to, const char* from) {
#if defined(__AVX2__)
    for (int i = 0; i < kLine; i += 32) {
      _mm256_stream_si256(reinterpret_cast<__m256i*>(to + i), *reinterpret_cast<const __m256i*>(from + i));
    }
#elif defined(__SSE2__)
    for (int i = 0; i < kLine; i += 16) {
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), *reinterpret_cast<const __m128i*>(from + i));
    }
#else
    __builtin_memcpy(to, from, kLine);
#endif
  }
};

// What the numbers of an operation's inputs and outputs are: T, unless it says otherwise.
template <class Op, class T>
struct Numbers {
  using From = T;
  using To = T;
};
template <class Op, class T>
  requires requires { typename Op::From; }
struct Numbers<Op, T> {
  using From = typename Op::From;
  using To = T;
};
template <class Op, class T>
  requires requires { typename Op::To; }
struct Numbers<Op, T> {
  using From = T;
  using To = typename Op::To;
};

template <std::size_t N>
constexpr int widest(const int (&widths)[N]) {
  int most = 0;
  for (const int width : widths) most = width > most ? width : most;
  return most;
}

// `Op` has kInputs and kOutputs, numbers per element of each, and
//   template <class T> static Mask<T> apply(const Vector<T>* in, Vector<T>* out, int option)
// over all numbers of the inputs and outputs, in order. It returns the lanes without an answer.
template <class Op>
struct Elementwise {
  static constexpr int kInputCount = sizeof(Op::kInputs) / sizeof(int);
  static constexpr int kOutputCount = sizeof(Op::kOutputs) / sizeof(int);
  static_assert(kInputCount <= kMaxInputs && kOutputCount <= kMaxOutputs);

  template <class T>
  using From = typename Numbers<Op, T>::From;
  template <class T>
  using To = typename Numbers<Op, T>::To;
  static constexpr bool kReal = kNumber<From<float>> == Number::real;

  static constexpr int input_start(int i) { return i == 0 ? 0 : input_start(i - 1) + Op::kInputs[i - 1]; }
  static constexpr int output_start(int i) { return i == 0 ? 0 : output_start(i - 1) + Op::kOutputs[i - 1]; }

  // Whether load_group reads a number more than there is of some input.
  static constexpr bool reads_over(int i = 0) {
    return i < kInputCount && (Op::kInputs[i] == 3 || reads_over(i + 1));
  }

  template <class T, int I>
  BUNRAKU_LANES static const From<T>* input(const ElementwiseJob& job, std::int64_t element) {
    return static_cast<const From<T>*>(job.inputs[I]) + element * job.strides[I];
  }

  template <class T, int I = 0>
  BUNRAKU_LANES static void load_repeated(const ElementwiseJob& job, Vector<T>* in) {
    if constexpr (I < kInputCount) {
      if (job.strides[I] == 0) {
        const From<T>* const from = input<T, I>(job, 0);
        for (int c = 0; c < Op::kInputs[I]; ++c) in[input_start(I) + c] = splat<T>(to_lane<T>(from[c]));
      }
      load_repeated<T, I + 1>(job, in);
    }
  }

  // Side by side, or one repeated: what whole groups are read from.
  template <int I = 0>
  BUNRAKU_LANES static bool plain(const ElementwiseJob& job) {
    if constexpr (I == kInputCount) {
      return kReal;
    } else {
      return (job.strides[I] == 0 || job.strides[I] == Op::kInputs[I]) && plain<I + 1>(job);
    }
  }

  template <class T, int I = 0>
  BUNRAKU_LANES static void load_inputs(const ElementwiseJob& job, std::int64_t first, Vector<T>* in) {
    if constexpr (I < kInputCount && kReal) {
      if (job.strides[I] != 0) {
        const T* const from = input<T, I>(job, first);
        prefetch_group<T, Op::kInputs[I]>(from);
        load_group<T, Op::kInputs[I]>(from, in + input_start(I));
      }
      load_inputs<T, I + 1>(job, first, in);
    }
  }

  template <class T, int I = 0>
  BUNRAKU_LANES static void load_inputs_carefully(const ElementwiseJob& job, std::int64_t first, int count,
                                                  Vector<T>* in) {
    if constexpr (I < kInputCount) {
      if (job.strides[I] != 0) {
        load_group_carefully<T, Op::kInputs[I]>(input<T, I>(job, first), job.strides[I], count, in + input_start(I));
      }
      load_inputs_carefully<T, I + 1>(job, first, count, in);
    }
  }

  template <class T>
  using Sinks = Sink<widest(Op::kOutputs) * kTile * static_cast<int>(sizeof(To<T>))>[kOutputCount];

  template <class T, int O = 0>
  BUNRAKU_LANES static void lay_down(Sinks<T>& sinks, int element, const Vector<T>* out) {
    if constexpr (O < kOutputCount) {
      To<T>* const tile = reinterpret_cast<To<T>*>(sinks[O].tile());
      if constexpr (kNumber<To<T>> == Number::real) {
        store_group<T, Op::kOutputs[O]>(tile + element * Op::kOutputs[O], out + output_start(O));
      } else {
        store_whole_numbers<T, Op::kOutputs[O]>(tile + element * Op::kOutputs[O], out + output_start(O));
      }
      lay_down<T, O + 1>(sinks, element, out);
    }
  }

  template <class T>
  static std::int64_t run(const ElementwiseJob& job, std::int64_t count) {
    if (count <= 0) return -1;
    constexpr int kCount = Lanes<T>::kCount;
    Vector<T> in[input_start(kInputCount)]{}, out[output_start(kOutputCount)];
    Sinks<T> sinks;
    for (int o = 0; o < kOutputCount; ++o) sinks[o].open(job.outputs[o], job.stream);
    Mask<T> refused[kTile / kCount];
    load_repeated<T>(job, in);
    const bool in_groups = plain(job);
    for (std::int64_t first = 0; first < count; first += kTile) {
      const std::int64_t left = count - first;
      const int size = left < kTile ? static_cast<int>(left) : kTile;
      const int whole = in_groups ? (left > kTile ? kTile : static_cast<int>(left) - reads_over()) : 0;
      Mask<T> any_refused{};
      for (int i = 0; i < size; i += kCount) {
        if (i + kCount <= whole) {
          load_inputs<T>(job, first + i, in);
        } else {
          load_inputs_carefully<T>(job, first + i, size - i < kCount ? size - i : kCount, in);
        }
        const Mask<T> mask = Op::template apply<T>(in, out, job.option);
        refused[i / kCount] = mask;
        any_refused |= mask;
        lay_down<T>(sinks, i, out);
      }
      if (any(any_refused)) {
        for (int i = 0; i < size; ++i) {
          if (refused[i / kCount][i % kCount]) return first + i;
        }
      }
      for (int o = 0; o < kOutputCount; ++o) {
        const int bytes = Op::kOutputs[o] * static_cast<int>(sizeof(To<T>));
        sinks[o].put(static_cast<char*>(job.outputs[o]) + first * bytes, size * bytes, left <= kTile);
      }
    }
#if defined(__SSE2__)
    if (job.stream) _mm_sfence();
#endif
    return -1;
  }
};

template <class Op>
constexpr ElementwiseOperation operation(const char* name) {
  using E = Elementwise<Op>;
  ElementwiseOperation made{name, kNumber<typename E::template From<float>>, E::kInputCount, {},
                            kNumber<typename E::template To<float>>, E::kOutputCount, {},
                            &E::template run<float>, &E::template run<double>};
  for (int i = 0; i < made.input_count; ++i) made.input_widths[i] = Op::kInputs[i];
  for (int i = 0; i < made.output_count; ++i) made.output_widths[i] = Op::kOutputs[i];
  return made;
}

}  // namespace bunraku::BUNRAKU_LEVEL::rotation
