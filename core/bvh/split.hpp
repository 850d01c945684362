#pragma once
// Splitting a range of primitives in two, for the builder: by surface area in bins, or by halves.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "bvh/tree.hpp"

namespace bunraku::bvh {

typedef float Quad __attribute__((vector_size(16)));
typedef std::int32_t QuadInt __attribute__((vector_size(16)));

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr int kBins = 16;
inline constexpr int kLeastBins = 4;            // small ranges have few: 16 from 240 primitives on
inline constexpr int kPrimitivesPerBin = 20;
inline constexpr std::int64_t kSample = 512;   // larger ranges are judged by every second, third … primitive
inline constexpr float kFlat = 0.5f;           // axes shorter than this share of the longest are not tried
inline constexpr int kFine = 4;                 // primitives of a range that is not split any further
inline constexpr int kSteep = 40;               // from this depth on ranges are halved, whatever they cost

inline Quad smaller(Quad a, Quad b) { return a < b ? a : b; }
inline Quad larger(Quad a, Quad b) { return a > b ? a : b; }

// The fourth lane of `low` carries the primitive's index, that of `high` nothing.
struct Item {
  Quad low, high;

  std::int32_t primitive() const {
    std::int32_t index;
    __builtin_memcpy(&index, reinterpret_cast<const char*>(&low) + 12, sizeof index);
    return index;
  }
  Quad centre() const { return low + high; }  // twice it, which does as well
};

struct Box {
  Quad low = Quad{} + kInfinity;
  Quad high = Quad{} - kInfinity;

  void grow(Quad a, Quad b) {
    low = smaller(low, a);
    high = larger(high, b);
  }
  void grow(const Box& box) { grow(box.low, box.high); }
  float area() const {
    const Quad side = high - low;
    return side[0] * (side[1] + side[2]) + side[1] * side[2];
  }
};

struct Range {
  std::int64_t begin = 0, end = 0;
  Box box, centres;

  std::int64_t count() const { return end - begin; }
  void grow(const Item& item) {
    box.grow(item.low, item.high);
    centres.grow(item.centre(), item.centre());
  }
};

// Its box is set only where a table uses the bin.
struct Bin {
  Quad low, high;
  std::int64_t count;
};

struct Binning {
  int bins;
  Quad from, scale;
  bool used[3];

  Binning(const Range& range, int count) : bins(count), from(range.centres.low) {
    const Quad width = range.centres.high - range.centres.low;
    for (int k = 0; k < 3; ++k) scale[k] = width[k] > 0 ? static_cast<float>(bins) * 0.999999f / width[k] : 0;
    scale[3] = 0;
    const float longest = std::max({width[0], width[1], width[2]});
    for (int k = 0; k < 3; ++k) {
      if (!(scale[k] < kInfinity)) scale[k] = 0;
      used[k] = scale[k] > 0 && width[k] > kFlat * longest;
    }
    from[3] = 0;
  }
  QuadInt of(const Item& item) const {
    Quad at = (item.centre() - from) * scale;
    at[3] = 0;
    const Quad last = Quad{} + static_cast<float>(bins - 1);
    return __builtin_convertvector(smaller(at, last), QuadInt);
  }
};

struct Split {
  int axis = -1;
  int bin = 0;                          // the last on the left
  float cost = kInfinity;
};

struct Table {
  Bin bin[3][kBins];
  int bins;

  explicit Table(int used) : bins(used) {
    for (auto& axis : bin) {
      for (int b = 0; b < bins; ++b) axis[b] = {Box().low, Box().high, 0};
    }
  }
  void add(const Item* items, std::int64_t begin, std::int64_t end, std::int64_t step, const Binning& binning) {
    for (std::int64_t i = begin; i < end; i += step) {
      const QuadInt at = binning.of(items[i]);
      for (int k = 0; k < 3; ++k) {
        if (!binning.used[k]) continue;
        Bin& to = bin[k][at[k]];
        to.low = smaller(to.low, items[i].low);
        to.high = larger(to.high, items[i].high);
        ++to.count;
      }
    }
  }
  // SA(left) · packets(left) + SA(right) · packets(right), the least of it.
  Split best(const Binning& binning, int leaf_size) const {
    Split split;
    const auto packets = [&](std::int64_t count) {
      return static_cast<float>((count + leaf_size - 1) / leaf_size);
    };
    for (int k = 0; k < 3; ++k) {
      if (!binning.used[k]) continue;
      float right_cost[kBins];
      Box box;
      std::int64_t count = 0;
      for (int b = binning.bins - 1; b > 0; --b) {
        box.grow(bin[k][b].low, bin[k][b].high);
        count += bin[k][b].count;
        right_cost[b] = count > 0 ? box.area() * packets(count) : kInfinity;
      }
      box = Box();
      count = 0;
      for (int b = 0; b + 1 < binning.bins; ++b) {
        box.grow(bin[k][b].low, bin[k][b].high);
        count += bin[k][b].count;
        if (count == 0) continue;
        const float cost = box.area() * packets(count) + right_cost[b + 1];
        if (cost < split.cost) split = {k, b, cost};
      }
    }
    return split;
  }
};

class Builder {
 public:
  Builder(Item* items, const BuildOptions& options) : items_(items), options_(options) {}

  // Too small to split. Half a packet still is: whether its halves share one is decided later.
  bool is_small(const Range& range) const {
    return range.count() <= (options_.median ? options_.leaf_size : std::min(options_.leaf_size, kFine));
  }

  // Splits in two parts of at least one primitive.
  std::pair<Range, Range> split(const Range& range, int depth) const {
    if (options_.median) return halve(range, longest(range.box), true);
    if (depth >= kSteep) return halve(range, longest(range.centres), true);
    if (range.count() <= options_.leaf_size) return halve_in_space(range);
    const Binning binning(range, static_cast<int>(std::min<std::int64_t>(kLeastBins + range.count() / kPrimitivesPerBin, kBins)));
    Table table(binning.bins);
    table.add(items_, range.begin, range.end, 1 + range.count() / kSample, binning);
    const Split split = table.best(binning, options_.leaf_size);
    if (split.axis < 0) return halve(range, 0, false);  // all centres in one place
    const float from = binning.from[split.axis], scale = binning.scale[split.axis];
    const auto end = static_cast<float>(split.bin + 1);
    return part(range, split.axis, [=](float centre) { return (centre - from) * scale < end; });
  }

 private:
  static int longest(const Box& box) {
    const Quad side = box.high - box.low;
    const int axis = side[0] >= side[1] ? 0 : 1;
    return side[2] > side[axis] ? 2 : axis;
  }

  std::pair<Range, Range> halve(const Range& range, int axis, bool sorted) const {
    Range left, right;
    left.begin = range.begin;
    left.end = right.begin = range.begin + range.count() / 2;
    right.end = range.end;
    if (sorted) {
      std::nth_element(items_ + left.begin, items_ + left.end, items_ + right.end, [axis](const Item& a, const Item& b) {
        const float x = a.centre()[axis], y = b.centre()[axis];
        return x < y || (x == y && a.primitive() < b.primitive());
      });
    }
    for (Range* half : {&left, &right}) {
      for (std::int64_t i = half->begin; i < half->end; ++i) half->grow(items_[i]);
    }
    return {left, right};
  }

  // In the middle of the longest axis: good enough within a packet, and a quarter of the time.
  std::pair<Range, Range> halve_in_space(const Range& range) const {
    const int axis = longest(range.centres);
    const float low = range.centres.low[axis], high = range.centres.high[axis];
    if (!(low < high)) return halve(range, 0, false);
    const float middle = low + (high - low) / 2;
    // Rounding may put the middle on the higher end, which must stay on the right.
    return part(range, axis, [=](float centre) { return centre <= middle && centre < high; });
  }

  template <typename OnLeft>
  std::pair<Range, Range> part(const Range& range, int axis, OnLeft left_of) const {
    const auto on_left = [&](const Item& item) { return left_of(item.low[axis] + item.high[axis]); };
    Range left, right;
    left.begin = range.begin;
    left.end = right.begin = separate(range.begin, range.end, on_left);
    right.end = range.end;
    for (Range* half : {&left, &right}) {
      for (std::int64_t i = half->begin; i < half->end; ++i) half->grow(items_[i]);
    }
    return {left, right};
  }

  // Moves those on the left to the front and says where the others begin. Which side an item is on
  // is a coin toss to the branch predictor, so blocks are looked through first and swapped after
  // (Edelkamp and Weiß 2016): 500 to 420 ms for 1.3M triangles whose order says nothing of where
  // they are, 350 to 365 for neatly ordered ones.
  template <typename OnLeft>
  std::int64_t separate(std::int64_t i, std::int64_t j, OnLeft on_left) const {
    constexpr int kBlock = 32;
    std::uint8_t wrong_left[kBlock], wrong_right[kBlock];
    int lefts = 0, rights = 0, left_from = 0, right_from = 0;
    while (j - i > 2 * kBlock) {
      if (lefts == 0) {
        left_from = 0;
        for (int k = 0; k < kBlock; ++k) {
          wrong_left[lefts] = static_cast<std::uint8_t>(k);
          lefts += !on_left(items_[i + k]);
        }
      }
      if (rights == 0) {
        right_from = 0;
        for (int k = 0; k < kBlock; ++k) {
          wrong_right[rights] = static_cast<std::uint8_t>(k);
          rights += on_left(items_[j - 1 - k]);
        }
      }
      const int swaps = std::min(lefts, rights);
      for (int k = 0; k < swaps; ++k) {
        std::swap(items_[i + wrong_left[left_from + k]], items_[j - 1 - wrong_right[right_from + k]]);
      }
      lefts -= swaps, rights -= swaps, left_from += swaps, right_from += swaps;
      if (lefts == 0) i += kBlock;
      if (rights == 0) j -= kBlock;
    }
    for (;;) {
      while (i < j && on_left(items_[i])) ++i;
      while (i < j && !on_left(items_[j - 1])) --j;
      if (i >= j) return i;
      std::swap(items_[i++], items_[--j]);
    }
  }

  Item* items_;
  const BuildOptions& options_;
};

}  // namespace bunraku::bvh
