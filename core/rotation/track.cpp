#include "rotation/track.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "threads.hpp"

namespace bunraku {
namespace {

// Elements of a group that is gathered before its kernel runs, and that a thread should have.
constexpr std::int64_t kGroup = 256, kGrain = 1024;

template <class T>
std::vector<T> steps_of(const double* times, std::int64_t count) {
  std::vector<T> steps(static_cast<std::size_t>(std::max<std::int64_t>(count - 1, 0)));
  for (std::size_t i = 0; i < steps.size(); ++i) steps[i] = static_cast<T>(times[i + 1] - times[i]);
  return steps;
}

// Where a query lies: in the span after a key, and how far into it, in [0, 1].
struct Place {
  std::int64_t span = 0;
  double part = 0;

  void find(const Track& track, double at) {
    const double *const times = track.times, *const last = times + track.count - 1;
    at = std::min(std::max(at, times[0]), *last);
    if (at < times[span] || at >= times[span + 1]) {  // queries often come in order
      const auto after = static_cast<std::int64_t>(std::upper_bound(times, last, at) - times);
      span = std::min(std::max<std::int64_t>(after - 1, 0), track.count - 2);
    }
    part = (at - times[span]) / (times[span + 1] - times[span]);
  }
};

// Calls gather(slot, span, column, part) for each element of a group, then compute(first, size).
template <class Make>
void in_groups(const Track& track, const double* at, std::int64_t queries, const Make& make) {
  parallel_for(queries * track.batch, kGrain, [&](std::int64_t begin, std::int64_t end) {
    auto group = make();
    Place place;
    std::int64_t query = begin / track.batch, column = begin % track.batch;
    place.find(track, at[query]);
    for (std::int64_t first = begin; first < end; first += kGroup) {
      const std::int64_t size = std::min(kGroup, end - first);
      for (std::int64_t i = 0; i < size; ++i) {
        group.gather(i, place, place.span * track.batch + column);
        if (++column == track.batch && first + i + 1 < end) {
          column = 0;
          place.find(track, at[++query]);
        }
      }
      group.compute(first, size);
    }
  });
}

template <class T>
void hold_first(const Track& track, std::int64_t queries, void* out) {
  const auto* const keys = static_cast<const T*>(track.keys);
  for (std::int64_t i = 0; i < queries; ++i) std::copy_n(keys, track.batch * 4, static_cast<T*>(out) + i * track.batch * 4);
}

template <class T>
auto kernel_of(const ElementwiseOperation& operation) {
  return sizeof(T) == 8 ? operation.run_double : operation.run_float;
}

template <class T>
struct SlerpGroup {
  const Track& track;
  T* out;
  T a[kGroup][4], b[kGroup][4], part[kGroup];

  SlerpGroup(const Track& on, T* to) : track(on), out(to) {}

  void gather(std::int64_t i, const Place& place, std::int64_t key) {
    const T* const from = static_cast<const T*>(track.keys) + key * 4;
    std::copy_n(from, 4, a[i]);
    std::copy_n(from + track.batch * 4, 4, b[i]);
    part[i] = static_cast<T>(place.part);
  }

  void compute(std::int64_t first, std::int64_t size) {
    static const ElementwiseOperation& slerp = rotation_operation("slerp");
    ElementwiseJob job{{a, b, part}, {4, 4, 1}, {out + first * 4}, 0, false};
    kernel_of<T>(slerp)(job, size);
  }
};

template <class T>
struct SplineGroup {
  const Track& track;
  const T* velocities;
  const T* steps;
  T* out;
  T a[kGroup][4], b[kGroup][4], leaving[kGroup][3], arriving[kGroup][3], step[kGroup], part[kGroup];

  SplineGroup(const Track& on, const T* at_keys, const T* lengths, T* to)
      : track(on), velocities(at_keys), steps(lengths), out(to) {}

  void gather(std::int64_t i, const Place& place, std::int64_t key) {
    const T* const from = static_cast<const T*>(track.keys) + key * 4;
    std::copy_n(from, 4, a[i]);
    std::copy_n(from + track.batch * 4, 4, b[i]);
    std::copy_n(velocities + key * 3, 3, leaving[i]);
    std::copy_n(velocities + (key + track.batch) * 3, 3, arriving[i]);
    step[i] = steps[place.span];
    part[i] = static_cast<T>(place.part);
  }

  void compute(std::int64_t first, std::int64_t size) {
    static const ElementwiseOperation& span = rotation_operation("spline_span");
    ElementwiseJob job{{a, b, leaving, arriving, step, part}, {4, 4, 3, 3, 1, 1}, {out + first * 4}, 0, false};
    kernel_of<T>(span)(job, size);
  }
};

template <class T>
void make_continuous(const Track& track, T* out) {
  const auto* const keys = static_cast<const T*>(track.keys);
  const std::int64_t batch = track.batch, total = track.count * batch;
  std::vector<unsigned char> flipped(static_cast<std::size_t>(total));
  parallel_for(total, 4 * kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = std::max(begin, batch); i < end; ++i) {
      const T *const a = keys + i * 4, *const b = a - batch * 4;
      flipped[static_cast<std::size_t>(i)] = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] < 0;
    }
  });
  for (std::int64_t i = batch; i < total; ++i) {
    flipped[static_cast<std::size_t>(i)] ^= flipped[static_cast<std::size_t>(i - batch)];
  }
  parallel_for(total, 4 * kGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const bool negative = flipped[static_cast<std::size_t>(i)] != 0;
      for (std::int64_t c = i * 4; c < i * 4 + 4; ++c) out[c] = negative ? -keys[c] : keys[c];
    }
  });
}

template <class T>
void sample_slerp(const Track& track, const double* at, std::int64_t queries, T* out) {
  if (track.count == 1) return hold_first<T>(track, queries, out);
  in_groups(track, at, queries, [&] { return SlerpGroup<T>(track, out); });
}

// (count, batch) with the given steps from one key and from one column to the next.
Grid two_axes(std::int64_t count, std::int64_t batch, int inputs, const std::int64_t (*steps)[2]) {
  Grid grid;
  grid.axes = 2;
  grid.lengths[0] = count;
  grid.lengths[1] = batch;
  grid.total = count * batch;
  for (int k = 0; k < inputs; ++k) {
    grid.steps[k][0] = steps[k][0];
    grid.steps[k][1] = steps[k][1];
  }
  return grid;
}

template <class T>
std::int64_t key_velocities(const Track& track, const T* steps, T* out) {
  static const ElementwiseOperation& body_velocity = rotation_operation("body_velocity");
  static const ElementwiseOperation& key_velocity = rotation_operation("key_velocity");
  constexpr bool kIsDouble = sizeof(T) == 8;
  const std::int64_t spans = track.count - 1, row = track.batch * 3;
  if (spans == 0) {
    std::fill_n(out, row, T{0});
    return -1;
  }
  std::vector<T> mean(static_cast<std::size_t>(spans * row));
  const auto* const keys = static_cast<const T*>(track.keys);
  const void* const pairs[] = {keys + track.batch * 4, keys, steps};
  const std::int64_t of_pairs[][2] = {{track.batch * 4, 4}, {track.batch * 4, 4}, {1, 0}};
  void* to = mean.data();
  const Grid between = two_axes(spans, track.batch, 3, of_pairs);
  const std::int64_t refused = run_elementwise(body_velocity, kIsDouble, between, pairs, &to, 0);
  if (refused >= 0) return refused;

  std::copy_n(mean.data(), row, out);
  std::copy_n(mean.data() + (spans - 1) * row, row, out + spans * row);
  const void* const inner[] = {mean.data(), mean.data() + row, steps, steps + 1};
  const std::int64_t of_inner[][2] = {{row, 3}, {row, 3}, {1, 0}, {1, 0}};
  to = out + row;
  run_elementwise(key_velocity, kIsDouble, two_axes(spans - 1, track.batch, 4, of_inner), inner, &to, 0);
  return -1;
}

template <class T>
std::int64_t sample_spline(const Track& track, const double* at, std::int64_t queries, T* out) {
  static const ElementwiseOperation& normalize = rotation_operation("normalize");
  const std::int64_t total = track.count * track.batch;
  std::vector<T> units(static_cast<std::size_t>(total * 4)), velocities(static_cast<std::size_t>(total * 3));
  const std::int64_t step[][2] = {{track.batch * 4, 4}};
  void* to = units.data();
  const std::int64_t refused =
      run_elementwise(normalize, sizeof(T) == 8, two_axes(track.count, track.batch, 1, step), &track.keys, &to, 0);
  if (refused >= 0) return refused;
  Track smooth = track;
  smooth.keys = units.data();
  make_continuous<T>(smooth, units.data());
  if (track.count == 1) {
    hold_first<T>(smooth, queries, out);
    return -1;
  }
  const std::vector<T> steps = steps_of<T>(track.times, track.count);
  key_velocities<T>(smooth, steps.data(), velocities.data());
  in_groups(smooth, at, queries, [&] { return SplineGroup<T>(smooth, velocities.data(), steps.data(), out); });
  return -1;
}

}  // namespace

bool is_finite_and_increasing(const double* times, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(times[i]) || (i > 0 && !(times[i] > times[i - 1]))) return false;
  }
  return true;
}

void make_continuous(const Track& track, void* out) {
  if (track.is_double) return make_continuous<double>(track, static_cast<double*>(out));
  make_continuous<float>(track, static_cast<float*>(out));
}

void sample_slerp(const Track& track, const double* at, std::int64_t queries, void* out) {
  if (track.is_double) return sample_slerp<double>(track, at, queries, static_cast<double*>(out));
  sample_slerp<float>(track, at, queries, static_cast<float*>(out));
}

std::int64_t sample_spline(const Track& track, const double* at, std::int64_t queries, void* out) {
  if (track.is_double) return sample_spline<double>(track, at, queries, static_cast<double*>(out));
  return sample_spline<float>(track, at, queries, static_cast<float*>(out));
}

std::int64_t key_velocities(const Track& track, void* out) {
  if (track.is_double) {
    return key_velocities(track, steps_of<double>(track.times, track.count).data(), static_cast<double*>(out));
  }
  return key_velocities(track, steps_of<float>(track.times, track.count).data(), static_cast<float*>(out));
}

void to_neighbours(Grid& grid) {
  grid.total = grid.total / grid.lengths[0] * (grid.lengths[0] - 1);
  --grid.lengths[0];
}

std::int64_t run_on_neighbours(const ElementwiseOperation& operation, bool is_double, const Grid& grid,
                               const double* times, const void* const* keys, int tracks, void* out) {
  Grid pairs = grid;
  const void* inputs[kMaxInputs];
  const int size = size_of(Number::real, is_double);
  for (int k = tracks - 1; k >= 0; --k) {
    for (int i = 0; i < grid.axes; ++i) pairs.steps[2 * k][i] = pairs.steps[2 * k + 1][i] = grid.steps[k][i];
    inputs[2 * k + 1] = keys[k];
    inputs[2 * k] = static_cast<const char*>(keys[k]) + grid.steps[k][0] * size;
  }
  for (int i = 0; i < grid.axes; ++i) pairs.steps[2 * tracks][i] = i == 0;
  const std::int64_t count = grid.lengths[0] + 1;
  const std::vector<double> steps = is_double ? steps_of<double>(times, count) : std::vector<double>{};
  const std::vector<float> single_steps = is_double ? std::vector<float>{} : steps_of<float>(times, count);
  inputs[2 * tracks] = is_double ? static_cast<const void*>(steps.data()) : single_steps.data();
  return run_elementwise(operation, is_double, pairs, inputs, &out, 0);
}

}  // namespace bunraku
