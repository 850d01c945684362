#pragma once
// What a ray that walks by turns comes back to: the children that it meets and has not entered.
//
// Rays of a crowd share no path, so how many children one meets is a coin toss to the branch
// predictor. With eight lanes side by side there is nothing to predict: all eight are sorted and
// written, and those not met lie beyond the end. A walk alone would wait for the sorting; by
// turns others go on meanwhile (80k triangles: 200 to 166 ns a ray; any hit 159 to 126).

#include "bvh/ray.hpp"

namespace bunraku::BUNRAKU_LEVEL::bvh {

// As integers of the same order. Clearing low bits brings a depth nearer.
BUNRAKU_INLINE std::int32_t in_order(float depth) {
  std::int32_t bits;
  __builtin_memcpy(&bits, &depth, sizeof bits);
  return bits ^ ((bits >> 31) & INT32_MAX);
}

#if defined(__AVX2__)

// From the largest to the least, by a network of Batcher's (1968).
BUNRAKU_INLINE __m256i sorted(__m256i v) {
  const auto exchange = [&](__m256i other, auto larger_first) {
    v = _mm256_blend_epi32(_mm256_max_epi32(v, other), _mm256_min_epi32(v, other), larger_first());
  };
  constexpr auto ones = [] { return 0xAA; };
  constexpr auto twos = [] { return 0xCC; };
  constexpr auto fours = [] { return 0xF0; };
  exchange(_mm256_shuffle_epi32(v, 0xB1), ones);
  exchange(_mm256_shuffle_epi32(v, 0x1B), twos);
  exchange(_mm256_shuffle_epi32(v, 0xB1), ones);
  exchange(_mm256_shuffle_epi32(_mm256_permute2x128_si256(v, v, 1), 0x1B), fours);
  exchange(_mm256_shuffle_epi32(v, 0x4E), twos);
  exchange(_mm256_shuffle_epi32(v, 0xB1), ones);
  return v;
}

// Which lanes a mask holds, for each mask: one in a byte, from the lowest.
struct HeldLanes {
  std::uint64_t of[256]{};

  constexpr HeldLanes() {
    for (unsigned mask = 0; mask < 256; ++mask) {
      int held = 0;
      for (unsigned lane = 0; lane < 8; ++lane) {
        if ((mask >> lane & 1) != 0) of[mask] |= std::uint64_t{lane} << 8 * held++;
      }
    }
  }
};
inline constexpr HeldLanes kHeldLanes;

#endif

// With order the nearest is on top, and what begins beyond the ray's end is left out.
template <bool kOrdered>
class Later {
 public:
  void clear() { count_ = 0; }

  BUNRAKU_INLINE void push(const Node& node, const Mask& met, const Eight& near) {
    const unsigned lanes = bits(met);
    Mask key = reinterpret_cast<Mask>(near);
    key ^= (key >> 31) & INT32_MAX;
    key = (key & ~kLaneBits) | Mask{0, 1, 2, 3, 4, 5, 6, 7};
#if defined(__AVX2__)
    __m256i order;
    if constexpr (kOrdered) {
      order = sorted(reinterpret_cast<__m256i>(met ? key : Mask{} + INT32_MIN));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(near_ + count_), order);
    } else {
      order = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(kHeldLanes.of + lanes)));
    }
    const __m256i child = _mm256_load_si256(reinterpret_cast<const __m256i*>(node.child));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(node_ + count_), _mm256_permutevar8x32_epi32(child, order));
    count_ += __builtin_popcount(lanes);
#else
    const int bottom = count_;
    for (unsigned left = lanes; left != 0; left &= left - 1) {
      const int lane = lowest(left);
      int to = count_++;
      if constexpr (kOrdered) {
        for (; to > bottom && near_[to - 1] < key[lane]; --to) {
          near_[to] = near_[to - 1];
          node_[to] = node_[to - 1];
        }
        near_[to] = key[lane];
      }
      node_[to] = node.child[lane];
    }
#endif
  }

  // kEmpty when nothing is left.
  BUNRAKU_INLINE std::int32_t pop(const Ray& ray) {
    const std::int32_t end = kOrdered ? in_order(ray.s_max) | kLaneBits : 0;
    while (count_ > 0) {
      --count_;
      if (!kOrdered || near_[count_] <= end) return node_[count_];
    }
    return kEmpty;
  }

 private:
  static constexpr std::int32_t kLaneBits = kWidth - 1;

  int count_;
  std::int32_t node_[kStack + kWidth];
  std::int32_t near_[kOrdered ? kStack + kWidth : 1];
};

}  // namespace bunraku::BUNRAKU_LEVEL::bvh
