#pragma once
// Dual-quaternion blends as weighted means of the places to which the joints alone would go.
//
// Where the joints' stretches are alike and their quaternions q_i lie within a right angle of each
// other (c_ij = q_i · q_j > 0 with one choice of signs), then with b = Σ w_i q_i and
// q_i conj(q_j) = (s_ij, c_ij) a vertex lies at
//   Σ α_i p_i + Σ_{i<j} β_ij (p_i − p_j) × s_ij,  α_i = w_i (b · q_i) / |b|²,  β_ij = w_i w_j / |b|²,
// where Σ α = 1 and α ≥ 0. As Σ w = 1, b · q_i = 1 − Σ w_j (1 − c_ij) and
// |b|² = 1 − 2 Σ_{i<j} w_i w_j (1 − c_ij), so intervals of w give narrow ones of α and β.
// The places p_i, p_j of a vertex v are as far apart as those of the lane's centre c, and by up to
// 2 |s_ij| |S (v − c)| more or less.

#include "posed/moved.hpp"
#include "skinning/narrow.hpp"

namespace bunraku::BUNRAKU_LEVEL::posed {

inline constexpr float kUnlike = 1.5e-6f;     // stretches that differ by less count as the same
inline constexpr float kLeastCosine = 0.05f;  // below, the padding is too large to be of use
inline constexpr int kMostDuals = 32;         // joints of a lane whose quaternions are compared
inline constexpr int kFewDuals = 8;           // joints of a lane whose pairs are bounded one by one
inline constexpr float kCosineError = 1e-6f;

struct Blend {
  float least[kMostDuals], most[kMostDuals];  // of α
  Quad offset, pad;                           // what β adds lies within offset ± pad
};

// How far a symmetric matrix S (xx, yy, zz, xy, xz, yz) may stretch a vector: its largest sum of a row.
BUNRAKU_INLINE float largest_stretch(const float* s) {
  const auto size = [&](int i) { return bvh::magnitude(s[i]); };
  const float x = size(0) + size(3) + size(4), y = size(1) + size(3) + size(5), z = size(2) + size(4) + size(5);
  const float xy = x > y ? x : y;
  return xy > z ? xy : z;
}

BUNRAKU_INLINE float dot(const Quad& a, const Quad& b) {
  const Quad p = a * b;
  return (p[0] + p[1]) + (p[2] + p[3]);
}

BUNRAKU_INLINE Quad cross(const Quad& a, const Quad& b) {
  const Quad a1 = __builtin_shufflevector(a, a, 1, 2, 0, 3), b1 = __builtin_shufflevector(b, b, 1, 2, 0, 3);
  const Quad c = a * b1 - a1 * b;
  return __builtin_shufflevector(c, c, 1, 2, 0, 3);
}

// The joints of a lane: their quaternions, signs chosen by the first, and where they take the
// lane's centre. False where their stretches differ.
struct Joints {
  Quad q[kMostDuals], place[kMostDuals];
  float stretch = 0;

  BUNRAKU_INLINE bool gather(const RestView& view, const Pose& pose, const Lane& lane, const Quad& centre) {
    const float* first = nullptr;
    for (int i = 0; i < lane.count; ++i) {
      const std::int32_t slot = view.slots[lane.first + i];
      const float* rows = pose.packed + skinning::kHeader + slot * skinning::kNarrowRows;
      const float* s = rows + skinning::kStretchRow;
      if (i == 0) {
        first = s;
        stretch = largest_stretch(s);
      }
      float apart = 0;
      for (int r = 0; r < 6; ++r) {
        const float off = bvh::magnitude(first[r] - s[r]);
        apart = off > apart ? off : apart;
      }
      if (!(apart <= kUnlike * stretch)) return false;
      q[i] = *reinterpret_cast<const Quad*>(rows);
      if (dot(q[0], q[i]) < 0) q[i] = -q[i];
      place[i] = moved_point(pose.columns + 32 * slot, centre);
    }
    return true;
  }
};

// (p_i − p_j) × s_ij of one pair at the lane's centre, and by how much its size may vary.
struct Pair {
  Quad term;
  float more, turn;
};

// False where the lane cannot be bounded.
inline bool dual_blend(const RestView& view, const Pose& pose, const Lane& lane, const Eight& shift, Blend& blend) {
  if (lane.count > kMostDuals) return false;
  Joints joints;
  const Quad centre = Quad{lane.centre[0], lane.centre[1], lane.centre[2], 0} + lower(shift);
  if (!joints.gather(view, pose, lane, centre)) return false;
  const Quad wider = upper(shift);
  const float reach = 2 * joints.stretch * (lane.radius + wider[0] + wider[1] + wider[2]);
  const Share* shares = view.shares + lane.first;
  const int count = lane.count;
  const bool few = lane.weighted && count <= kFewDuals;

  float cosine = 1;
  Pair pairs[kFewDuals * (kFewDuals - 1) / 2];
  Pair* pair = pairs;
  for (int i = 1; i < count; ++i) {
    for (int j = 0; j < i; ++j) {
      const Quad &a = joints.q[i], &b = joints.q[j];
      const float c = dot(a, b);
      cosine = c < cosine ? c : cosine;
      if (!few) continue;
      const Quad s = b[3] * a - a[3] * b - cross(a, b);
      const float square = 1 - c * c;
      *pair++ = {cross(joints.place[i] - joints.place[j], s), (square > 0 ? square : 0) + kCosineError, 1 - c};
    }
  }
  cosine -= kCosineError;
  if (!(cosine > kLeastCosine)) return false;

  // Σ_{i<j} w_i w_j = (1 − Σ w²) / 2 is largest for equal weights, or where the heaviest joint
  // has the least that it has anywhere and the others share the rest.
  int most = count < view.most_influences ? count : view.most_influences;
  most = most < 2 ? 2 : most;
  const float others = static_cast<float>(most - 1), least = shares[0].weight - shares[0].spread;
  const float heavy = least > 1 / (others + 1) ? least : 1 / (others + 1);
  const float products = (1 - heavy * heavy - (1 - heavy) * (1 - heavy) / others) / 2 + kCosineError;
  float norm = 1 - 2 * products * (1 - cosine), norm_high = 1;
  float low[kMostDuals], high[kMostDuals], fewer[kFewDuals] = {}, more[kFewDuals] = {};
  for (int i = 0; i < count; ++i) {
    low[i] = shares[i].weight - shares[i].spread;
    low[i] = low[i] > 0 ? low[i] : 0;
    high[i] = shares[i].weight + shares[i].spread;
  }
  if (!few) {
    Quad from = joints.place[0], to = from;
    for (int i = 0; i < count; ++i) {
      from = joints.place[i] < from ? joints.place[i] : from;
      to = joints.place[i] > to ? joints.place[i] : to;
      blend.least[i] = low[i] * cosine;
      blend.most[i] = high[i] / norm;
    }
    const float sine = __builtin_sqrtf(1 - cosine * cosine);
    const float apart = __builtin_sqrtf(dot(to - from, to - from)) + sine * reach;
    blend.offset = Quad{};
    blend.pad = splat(1.0001f * apart * sine * products / norm + pose.slack / norm);
    return true;
  }

  float norm_low = 1;
  pair = pairs;
  for (int i = 1; i < count; ++i) {
    for (int j = 0; j < i; ++j, ++pair) {
      const float up = pair->turn + kCosineError, down = pair->turn > kCosineError ? pair->turn - kCosineError : 0;
      fewer[i] += high[j] * up, fewer[j] += high[i] * up;
      more[i] += low[j] * down, more[j] += low[i] * down;
      norm_low -= 2 * high[i] * high[j] * up;
      norm_high -= 2 * low[i] * low[j] * down;
    }
  }
  norm = norm_low > norm ? norm_low : norm;
  norm_high += kCosineError;
  for (int i = 0; i < count; ++i) {
    const float along = 1 - fewer[i] > cosine ? 1 - fewer[i] : cosine;
    blend.least[i] = low[i] * along / norm_high;
    blend.most[i] = high[i] * (1 - more[i] + kCosineError) / norm;
  }
  Quad offset{}, pad = splat(pose.slack / norm);
  pair = pairs;
  for (int i = 1; i < count; ++i) {
    for (int j = 0; j < i; ++j, ++pair) {
      const float beta = high[i] * high[j] / norm, middle = (beta + low[i] * low[j] / norm_high) / 2;
      offset += middle * pair->term;
      pad += (beta - middle) * absolute(pair->term) + beta * pair->more * reach;
    }
  }
  blend.offset = offset;
  blend.pad = 1.0001f * pad + kCosineError * absolute(offset);
  return true;
}

}  // namespace bunraku::BUNRAKU_LEVEL::posed
