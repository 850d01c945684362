// Sampling in blocks of frames: a block's output stays in cache while every track writes to it.
// For each timeline the keys around a block's times are looked up once, for all tracks on it.

#include "sampling/sampling.hpp"

namespace bunraku::BUNRAKU_LEVEL {
namespace {

constexpr int kBlock = 32;

typedef double Vector4 __attribute__((vector_size(32)));
typedef double Unaligned4 __attribute__((vector_size(32), aligned(8), may_alias));

inline Vector4 load4(const double* from) { return *reinterpret_cast<const Unaligned4*>(from); }
inline void store4(double* to, Vector4 value) { *reinterpret_cast<Unaligned4*>(to) = value; }

template <class Mask4>
inline bool any(Mask4 mask) {
  return (mask[0] | mask[1] | mask[2] | mask[3]) != 0;
}

// Where each frame of a block lies among the keys of a timeline. Exactly on a key (within
// kSameTime, before the first or after the last) `next` is `key` and `u` is 0. Frames are filled
// up to a multiple of four with such places on key 0.
struct Places {
  std::int64_t key[kBlock];
  std::int64_t next[kBlock];
  double u[kBlock];         // (t − t₀) / (t₁ − t₀), in [0, 1)
  double duration[kBlock];  // t₁ − t₀
};

// The last key at or before `time`, or key 0 if there is none. Tries `hint` and its successor first.
inline std::int64_t key_before(const double* times, std::int64_t count, double time, std::int64_t hint) {
  if (times[hint] <= time) {
    if (hint + 1 == count || time < times[hint + 1]) return hint;
    if (hint + 2 == count || time < times[hint + 2]) return hint + 1;
  }
  if (time < times[0]) return 0;
  // Halving by addition alone, so that the compiler needs no branch that could be mispredicted.
  std::int64_t low = 0;
  for (std::int64_t length = count; length > 1;) {
    const std::int64_t half = length / 2;
    low += times[low + half] <= time ? half : 0;
    length -= half;
  }
  return low;
}

void locate(const double* keys, std::int64_t count, const double* times, int frames, Places& places) {
  std::int64_t hint = 0;
  for (int f = 0; f < frames; ++f) {
    std::int64_t key = hint = key_before(keys, count, times[f], hint);
    std::int64_t next = key;
    double u = 0, duration = 0;
    if (key + 1 < count && times[f] > keys[key]) {
      const double since = times[f] - keys[key], left = keys[key + 1] - times[f];
      if (since <= kSameTime || left <= kSameTime) {
        next = key = left < since ? key + 1 : key;
      } else {
        next = key + 1;
        duration = keys[next] - keys[key];
        u = since / duration;
      }
    }
    places.key[f] = key;
    places.next[f] = next;
    places.u[f] = u;
    places.duration[f] = duration;
  }
  for (int f = frames; f % 4 != 0; ++f) {
    places.key[f] = places.next[f] = 0;
    places.u[f] = places.duration[f] = 0;
  }
}

// The height of curves from (0, 0) over (x1, y1) and (x2, y2) to (1, 1) where their x is u. x rises
// with s as long as x1 and x2 lie in [0, 1], so x(s) = u has one solution: Newton steps from s = u,
// halving where a step would leave what is known to enclose it. Typical curves need five steps;
// those whose slope vanishes at the solution (x1 = 1, x2 = 0 at u = ½) the most. A lane that is
// done stays as it is, so that its neighbours do not change a bit of it.
inline Vector4 curve_height(const double* const curve[4], Vector4 u) {
  typedef decltype(u < u) Mask4;
  constexpr int kSteps = 48;
  constexpr double kExact = 0x1p-52;
  const Vector4 x1 = {curve[0][0], curve[1][0], curve[2][0], curve[3][0]};
  const Vector4 y1 = {curve[0][1], curve[1][1], curve[2][1], curve[3][1]};
  const Vector4 x2 = {curve[0][2], curve[1][2], curve[2][2], curve[3][2]};
  const Vector4 y2 = {curve[0][3], curve[1][3], curve[2][3], curve[3][3]};
  const Vector4 c = 3.0 * x1, b = 3.0 * (x2 - x1) - c, a = 1.0 - c - b;
  Vector4 s = u, low = u - u, high = low + 1.0;
  Mask4 busy = (u > 0.0) & (((x1 - y1) != 0.0) | ((x2 - y2) != 0.0));
  for (int step = 0; step < kSteps && any(busy); ++step) {
    const Vector4 excess = ((a * s + b) * s + c) * s - u;
    const Vector4 slope = (3.0 * a * s + 2.0 * b) * s + c;
    low = ((excess < 0.0) & busy) ? s : low;
    high = ((excess > 0.0) & busy) ? s : high;
    const Vector4 change = excess / slope;  // infinite or NaN where the slope vanishes
    const Vector4 aimed = s - change;
    const Vector4 next = ((aimed > low) & (aimed < high)) ? aimed : 0.5 * (low + high);
    const Vector4 size = change < 0.0 ? -change : change;
    busy &= (excess != 0.0) & ~((size <= kExact * s) | (high - low <= kExact * high));
    s = busy ? next : s;
  }
  const Vector4 d = 3.0 * y1, f = 3.0 * (y2 - y1) - d, e = 1.0 - d - f;
  const Vector4 height = ((e * s + f) * s + d) * s;
  // A straight line is the time itself, and a time on a key 0.
  return (((x1 == y1) & (x2 == y2)) | (u == 0.0)) ? u : height;
}

// sin(x) / x of x² for |x| ≤ π/2: the Taylor series, whose first term left out is 8e-19.
inline Vector4 sine_ratio(Vector4 x2) {
  Vector4 sum = x2 * (1.0 / 51090942171709440000.0);  //  1/21!
  sum = (sum - 1.0 / 121645100408832000.0) * x2;      // −1/19!
  sum = (sum + 1.0 / 355687428096000.0) * x2;         //  1/17!
  sum = (sum - 1.0 / 1307674368000.0) * x2;           // −1/15!
  sum = (sum + 1.0 / 6227020800.0) * x2;              //  1/13!
  sum = (sum - 1.0 / 39916800.0) * x2;                // −1/11!
  sum = (sum + 1.0 / 362880.0) * x2;                  //  1/9!
  sum = (sum - 1.0 / 5040.0) * x2;                    // −1/7!
  sum = (sum + 1.0 / 120.0) * x2;                     //  1/5!
  sum = (sum - 1.0 / 6.0) * x2;                       // −1/3!
  return sum + 1.0;
}

struct Destination {
  double* first;        // the track's values in the block's first frame
  std::int64_t stride;  // numbers from one frame to the next
};

// Values of kWidth numbers, or of `any` where kWidth is 0: a loop of known length is unrolled.

template <int kWidth>
void step(const double* rows, std::int64_t any, const Places& at, int frames, Destination to) {
  const std::int64_t width = kWidth != 0 ? kWidth : any;
  for (int f = 0; f < frames; ++f) {
    const double* const value = rows + at.key[f] * width;
    double* const out = to.first + f * to.stride;
    for (std::int64_t c = 0; c < width; ++c) out[c] = value[c];
  }
}

template <int kWidth>
void linear(const double* rows, std::int64_t any, const Places& at, int frames, Destination to) {
  const std::int64_t width = kWidth != 0 ? kWidth : any;
  for (int f = 0; f < frames; ++f) {
    const double* const a = rows + at.key[f] * width;
    const double* const b = rows + at.next[f] * width;
    double* const out = to.first + f * to.stride;
    // In this form equal keys give exactly their value.
    for (std::int64_t c = 0; c < width; ++c) out[c] = a[c] + at.u[f] * (b[c] - a[c]);
  }
}

// sin((1−u)a)/sin a · q₀ + sin(ua)/sin a · q₁ with sin(x) = x · sine_ratio(x²): no division by a
// sine that could be small, so equal, nearly equal and opposite keys need no case of their own.
template <bool kCurved>
void slerp(const double* rows, const Places& at, int frames, Destination to) {
  constexpr std::int64_t kRow = kCurved ? 10 : 6;
  double from[kBlock], towards[kBlock];
  for (int f = 0; f < frames; f += 4) {
    const double* const row[4] = {rows + at.key[f] * kRow, rows + at.key[f + 1] * kRow,
                                  rows + at.key[f + 2] * kRow, rows + at.key[f + 3] * kRow};
    const Vector4 angle2 = {row[0][4], row[1][4], row[2][4], row[3][4]};
    const Vector4 ratio = {row[0][5], row[1][5], row[2][5], row[3][5]};
    Vector4 u = load4(at.u + f);
    if (kCurved) {
      const double* const curve[4] = {rows + at.next[f] * kRow + 6, rows + at.next[f + 1] * kRow + 6,
                                      rows + at.next[f + 2] * kRow + 6, rows + at.next[f + 3] * kRow + 6};
      u = curve_height(curve, u);
    }
    const Vector4 v = 1.0 - u;
    const Vector4 size = ratio < 0.0 ? -ratio : ratio;
    const Vector4 weight = v * size * sine_ratio(v * v * angle2);
    store4(from + f, u == 0.0 ? Vector4{1, 1, 1, 1} : weight);
    store4(towards + f, u * ratio * sine_ratio(u * u * angle2));
  }
  for (int f = 0; f < frames; ++f) {
    const Vector4 a = load4(rows + at.key[f] * kRow), b = load4(rows + at.next[f] * kRow);
    store4(to.first + f * to.stride, from[f] * a + towards[f] * b);
  }
}

// As linear, each number with a curve of its own.
void bezier(const double* rows, std::int64_t width, const Places& at, int frames, Destination to) {
  const std::int64_t row = 5 * width;
  double height[kBlock];
  for (std::int64_t c = 0; c < width; ++c) {
    const double* const curves = rows + width + 4 * c;
    for (int f = 0; f < frames; f += 4) {
      const double* const curve[4] = {curves + at.next[f] * row, curves + at.next[f + 1] * row,
                                      curves + at.next[f + 2] * row, curves + at.next[f + 3] * row};
      store4(height + f, curve_height(curve, load4(at.u + f)));
    }
    for (int f = 0; f < frames; ++f) {
      const double a = rows[at.key[f] * row + c], b = rows[at.next[f] * row + c];
      to.first[f * to.stride + c] = a + height[f] * (b - a);
    }
  }
}

// v₀ + h(v₁ − v₀) + d·(b₀·(u³ − 2u² + u) + a₁·(u³ − u²)), h = 3u² − 2u³: the specification's
// formula in a form in which equal keys with zero tangents give exactly their value.
struct Hermite {
  double rise[kBlock];
  double leave[kBlock];   // of the out-tangent of the key before
  double arrive[kBlock];  // of the in-tangent of the key after
};

void hermite(const Places& at, int frames, Hermite& weights) {
  for (int f = 0; f < frames; f += 4) {
    const Vector4 u = load4(at.u + f), d = load4(at.duration + f);
    store4(weights.rise + f, u * u * (3.0 - 2.0 * u));
    store4(weights.leave + f, d * (u * (u - 1.0) * (u - 1.0)));
    store4(weights.arrive + f, d * (u * u * (u - 1.0)));
  }
}

template <int kWidth>
void cubic(const double* rows, std::int64_t any, const Places& at, int frames, Destination to) {
  const std::int64_t width = kWidth != 0 ? kWidth : any;
  Hermite weights;
  hermite(at, frames, weights);
  for (int f = 0; f < frames; ++f) {
    const double* const a = rows + at.key[f] * 3 * width + width;  // value, then out-tangent
    const double* const b = rows + at.next[f] * 3 * width;         // in-tangent, then value
    double* const out = to.first + f * to.stride;
    for (std::int64_t c = 0; c < width; ++c) {
      out[c] = a[c] + weights.rise[f] * (b[width + c] - a[c]) +
               (weights.leave[f] * a[width + c] + weights.arrive[f] * b[c]);
    }
  }
}

inline double dot4(Vector4 a, Vector4 b) {
  const Vector4 p = a * b;
  return (p[0] + p[1]) + (p[2] + p[3]);
}

void cubic_rotation(const double* rows, const Places& at, int frames, Destination to) {
  constexpr std::int64_t kRow = 12;
  // Below this length a direction is rounding noise.
  constexpr double kNothing = 1e-12;
  Hermite weights;
  hermite(at, frames, weights);
  for (int f = 0; f < frames; ++f) {
    const double* const before = rows + at.key[f] * kRow;
    const double* const after = rows + at.next[f] * kRow;
    const Vector4 a = load4(before + 4), b = load4(after + 4);
    Vector4 q = a + weights.rise[f] * (b - a) +
                (weights.leave[f] * load4(before + 8) + weights.arrive[f] * load4(after));
    double square = dot4(q, q);
    if (square < kNothing * kNothing) {
      q = at.u[f] <= 0.5 ? a : b;
      square = dot4(q, q);
    }
    store4(to.first + f * to.stride, q / __builtin_sqrt(square));
  }
}

void sample_track(const SampledTrack& track, const double* rows, const Places& at, int frames, Destination to) {
  const std::int64_t width = track.width;
  switch (static_cast<TrackKind>(track.kind)) {
    case TrackKind::step: return (width == 3 ? step<3> : step<0>)(rows, width, at, frames, to);
    case TrackKind::linear: return (width == 3 ? linear<3> : linear<0>)(rows, width, at, frames, to);
    case TrackKind::slerp: return slerp<false>(rows, at, frames, to);
    case TrackKind::cubic: return (width == 3 ? cubic<3> : cubic<0>)(rows, width, at, frames, to);
    case TrackKind::cubic_rotation: return cubic_rotation(rows, at, frames, to);
    case TrackKind::bezier: return bezier(rows, width, at, frames, to);
    case TrackKind::bezier_slerp: return slerp<true>(rows, at, frames, to);
  }
}

void sample(const SamplingJob& job, std::int64_t begin, std::int64_t end) {
  Places places;
  for (std::int64_t first = begin; first < end; first += kBlock) {
    const int frames = static_cast<int>(end - first < kBlock ? end - first : kBlock);
    for (const SamplingOutput& output : job.outputs) {
      if (output.width == 0) continue;
      double* to = output.values + first * output.width;
      for (int f = 0; f < frames; ++f, to += output.width) {
        __builtin_memcpy(to, output.rest, sizeof(double) * static_cast<std::size_t>(output.width));
      }
    }
    std::int64_t located = -1;
    for (std::int64_t t = 0; t < job.track_count; ++t) {
      const SampledTrack& track = job.tracks[t];
      if (track.timeline != located) {
        located = track.timeline;
        const std::int64_t start = job.timeline_starts[located];
        locate(job.key_times + start, job.timeline_starts[located + 1] - start, job.times + first, frames, places);
      }
      const SamplingOutput& output = job.outputs[track.output];
      const Destination to{output.values + first * output.width + track.column, output.width};
      sample_track(track, job.rows + track.rows, places, frames, to);
    }
  }
}

}  // namespace

extern const SamplingKernels sampling_kernels{&sample};

}  // namespace bunraku::BUNRAKU_LEVEL
