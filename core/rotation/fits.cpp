#include "rotation/fits.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "threads.hpp"

namespace bunraku {
namespace {

// Results that are finished together, slots that are summed by one thread, and the least worth one.
constexpr std::int64_t kGroup = 32, kStrip = 8192, kGrain = 2048;

// The slots of one result: input k's slot n starts at data[k] + n * steps[k].
template <class T>
struct Slots {
  const T* data[3];
  std::int64_t steps[3];
  std::int64_t count;

  const T* at(int k, std::int64_t n) const { return data[k] + n * steps[k]; }
};

// A sum with such a weight is NaN, which every fit refuses.
double checked(double weight) {
  return weight >= 0 && weight < std::numeric_limits<double>::infinity() ? weight
                                                                         : std::numeric_limits<double>::quiet_NaN();
}

// Sums are of slots [begin, end); `about` is what an earlier sum has found.

struct SumOfSquares {
  static constexpr int kSums = 16;
  template <class T>
  static void add(const Slots<T>& slots, std::int64_t begin, std::int64_t end, const double*, double* sums) {
    for (std::int64_t n = begin; n < end; ++n) {
      const T* const q = slots.at(0, n);
      const double weight = checked(*slots.at(1, n));
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sums[4 * i + j] += weight * q[i] * q[j];
      }
    }
  }
};

struct SumOfPoints {
  static constexpr int kSums = 7;
  template <class T>
  static void add(const Slots<T>& slots, std::int64_t begin, std::int64_t end, const double*, double* sums) {
    for (std::int64_t n = begin; n < end; ++n) {
      const double weight = checked(*slots.at(2, n));
      for (int i = 0; i < 3; ++i) {
        sums[i] += weight * slots.at(0, n)[i];
        sums[3 + i] += weight * slots.at(1, n)[i];
      }
      sums[6] += weight;
    }
  }
};

struct SumOfProducts {
  static constexpr int kSums = 9;
  template <class T>
  static void add(const Slots<T>& slots, std::int64_t begin, std::int64_t end, const double* centres, double* sums) {
    for (std::int64_t n = begin; n < end; ++n) {
      const T *const a = slots.at(0, n), *const b = slots.at(1, n);
      const double weight = checked(*slots.at(2, n));
      for (int i = 0; i < 3; ++i) {
        const double left = weight * (b[i] - centres[3 + i]);
        for (int j = 0; j < 3; ++j) sums[3 * i + j] += left * (a[j] - centres[j]);
      }
    }
  }
};

struct SumOnOneSide {
  static constexpr int kSums = 8;
  template <class T>
  static void add(const Slots<T>& slots, std::int64_t begin, std::int64_t end, const double* pivot, double* sums) {
    for (std::int64_t n = begin; n < end; ++n) {
      const T* const dq = slots.at(0, n);
      const double side = dq[0] * pivot[0] + dq[1] * pivot[1] + dq[2] * pivot[2] + dq[3] * pivot[3];
      const double weight = side < 0 ? -static_cast<double>(*slots.at(1, n)) : static_cast<double>(*slots.at(1, n));
      for (int i = 0; i < 8; ++i) sums[i] += weight * dq[i];
    }
  }
};

// Over all slots, strip by strip: in the same order on any number of threads.
template <class Sum, class T>
void sum(const Slots<T>& slots, const double* about, double* sums) {
  std::fill_n(sums, Sum::kSums, 0.0);
  if (slots.count <= kStrip) return Sum::add(slots, 0, slots.count, about, sums);
  const std::int64_t strips = (slots.count + kStrip - 1) / kStrip;
  std::vector<double> of_strips(static_cast<std::size_t>(strips * Sum::kSums));
  parallel_for(strips, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t s = begin; s < end; ++s) {
      Sum::add(slots, s * kStrip, std::min((s + 1) * kStrip, slots.count), about, &of_strips[static_cast<std::size_t>(s * Sum::kSums)]);
    }
  });
  for (std::size_t i = 0; i < of_strips.size(); ++i) sums[i % Sum::kSums] += of_strips[i];
}

// Calls sum(slots, i) for each of a group of results, then finish(first, size): the first refused.
template <class T, class Make>
std::int64_t fit(const Grid& grid, int count, const void* const* inputs, const Make& make) {
  const int last = grid.axes - 1;
  const std::int64_t slot_count = grid.lengths[last];
  FirstRefused refused;
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    auto group = make();
    for (std::int64_t first = begin; first < end; first += kGroup) {
      const std::int64_t size = std::min(kGroup, end - first);
      for (std::int64_t i = 0; i < size; ++i) {
        Slots<T> slots{};
        slots.count = slot_count;
        for (int k = 0; k < count; ++k) {
          std::int64_t row = first + i, place = 0;
          for (int axis = last - 1; axis >= 0; row /= grid.lengths[axis--]) {
            place += row % grid.lengths[axis] * grid.steps[k][axis];
          }
          slots.data[k] = static_cast<const T*>(inputs[k]) + place;
          slots.steps[k] = grid.steps[k][last];
        }
        group.sum(slots, i);
      }
      const std::int64_t bad = group.finish(first, size);
      if (bad >= 0) return refused.note(first + bad);
    }
  };
  const std::int64_t results = grid.total / slot_count;
  parallel_for(results, std::max<std::int64_t>(kGrain / slot_count, 1), work);
  return refused.position();
}

template <class T>
struct MeanGroup {
  T* out;
  double sums[kGroup][16], found[kGroup][4];

  explicit MeanGroup(void* to) : out(static_cast<T*>(to)) {}

  void sum(const Slots<T>& slots, std::int64_t i) { bunraku::sum<SumOfSquares>(slots, nullptr, sums[i]); }

  std::int64_t finish(std::int64_t first, std::int64_t size) {
    static const ElementwiseOperation& dominant = rotation_operation("dominant_eigenvector");
    const std::int64_t bad = dominant.run_double({{sums}, {16}, {found}, 0, false}, size);
    std::copy_n(found[0], size * 4, out + first * 4);
    return bad;
  }
};

template <class T>
struct AlignmentGroup {
  T* rotation;
  T* translation;
  double centres[kGroup][6], products[kGroup][9], found[kGroup][4], moved[kGroup][3];

  AlignmentGroup(void* to, void* to_translation)
      : rotation(static_cast<T*>(to)), translation(static_cast<T*>(to_translation)) {}

  void sum(const Slots<T>& slots, std::int64_t i) {
    std::fill_n(centres[i], 6, 0.0);
    if (translation != nullptr) {
      double points[SumOfPoints::kSums];
      bunraku::sum<SumOfPoints>(slots, nullptr, points);
      for (int c = 0; c < 6; ++c) centres[i][c] = points[c] / points[6];
    }
    bunraku::sum<SumOfProducts>(slots, centres[i], products[i]);
    if (translation == nullptr) return;
    const bool still = std::all_of(products[i], products[i] + 9, [](double x) { return x == 0; });
    for (int c = 0; c < 9 && still; c += 4) products[i][c] = 1;
  }

  std::int64_t finish(std::int64_t first, std::int64_t size) {
    static const ElementwiseOperation& nearest = rotation_operation("nearest_rotation");
    static const ElementwiseOperation& rotate = rotation_operation("rotate");
    const int any_sign = 1;
    const std::int64_t bad = nearest.run_double({{products}, {9}, {found}, any_sign, false}, size);
    std::copy_n(found[0], size * 4, rotation + first * 4);
    if (translation == nullptr) return bad;
    rotate.run_double({{found, centres}, {4, 6}, {moved}, 0, false}, size);
    for (std::int64_t i = 0; i < size * 3; ++i) {
      translation[first * 3 + i] = static_cast<T>(centres[i / 3][3 + i % 3] - moved[i / 3][i % 3]);
    }
    return bad;
  }
};

template <class T>
struct BlendGroup {
  T* out;
  double sums[kGroup][8], found[kGroup][8];

  explicit BlendGroup(void* to) : out(static_cast<T*>(to)) {}

  void sum(const Slots<T>& slots, std::int64_t i) {
    std::int64_t heaviest = 0;
    for (std::int64_t n = 1; n < slots.count; ++n) {
      if (*slots.at(1, n) > *slots.at(1, heaviest)) heaviest = n;
    }
    double pivot[4];
    std::copy_n(slots.at(0, heaviest), 4, pivot);
    bunraku::sum<SumOnOneSide>(slots, pivot, sums[i]);
  }

  std::int64_t finish(std::int64_t first, std::int64_t size) {
    static const ElementwiseOperation& normalize = rotation_operation("dual_normalize");
    const std::int64_t bad = normalize.run_double({{sums}, {8}, {found}, 0, false}, size);
    std::copy_n(found[0], size * 8, out + first * 8);
    return bad;
  }
};

}  // namespace

std::int64_t fit_mean(bool is_double, const Grid& grid, const void* const inputs[2], void* out) {
  if (is_double) return fit<double>(grid, 2, inputs, [&] { return MeanGroup<double>(out); });
  return fit<float>(grid, 2, inputs, [&] { return MeanGroup<float>(out); });
}

std::int64_t fit_alignment(bool is_double, const Grid& grid, const void* const inputs[3], void* rotation,
                           void* translation) {
  if (is_double) return fit<double>(grid, 3, inputs, [&] { return AlignmentGroup<double>(rotation, translation); });
  return fit<float>(grid, 3, inputs, [&] { return AlignmentGroup<float>(rotation, translation); });
}

std::int64_t fit_blend(bool is_double, const Grid& grid, const void* const inputs[2], void* out) {
  if (is_double) return fit<double>(grid, 2, inputs, [&] { return BlendGroup<double>(out); });
  return fit<float>(grid, 2, inputs, [&] { return BlendGroup<float>(out); });
}

}  // namespace bunraku
