#pragma once
// The palette as the kernels read it: per batch of frames, one record of rows per slot.
//
// A wide batch stores each row kLanes times over, once per frame; a narrow batch once. The
// lanes of a wide batch that lie beyond the last frame repeat it.

#include "skinning/lanes.hpp"
#include "skinning/skinning.hpp"
#include "skinning/stretch.hpp"

namespace bunraku::BUNRAKU_LEVEL::skinning {

// Rows of a slot's record.
// Linear:           0…11 the 3×4 matrix, 12 the squared Frobenius norm of its 3×3 part.
// Dual quaternions: 0…3 real part, 4…7 dual part (x, y, z, w), 8…13 the stretch
//                   (xx, yy, zz, xy, xz, yz), 14 the squared norm.
inline constexpr int kMatrixRows = 12, kStretchRow = 8, kDualNormRow = 14;

struct Layout {
  int rows;  // of a record
  int dual;  // where the dual quaternion's rows begin
};

// Linear, positions alone (points.hpp): wide 0…11 the matrix as above, then four columns of x, y,
// z and 0 of each frame; narrow these columns.
inline constexpr int kColumnFloats = 16;

BUNRAKU_INLINE bool is_points(const DeformJob& job) {
  return job.method == Method::lbs && job.normals == nullptr && job.tangents == nullptr;
}

BUNRAKU_INLINE Layout layout(const DeformJob& job, bool wide) {
  const Method method = job.method;
  if (is_points(job)) return {wide ? kMatrixRows + kColumnFloats : kColumnFloats, 0};
  if (method == Method::lbs) return {wide ? 13 : 16, 0};
  if (method == Method::dqs) return {wide ? 15 : 16, 0};
  return {wide ? 28 : 32, wide ? 13 : 16};
}

// Leftover frames beyond the full wide batches: from half the lanes on, a padded wide batch
// costs less than single frames.
struct Batches {
  std::int64_t wide, narrow;
  std::int64_t count() const { return wide + narrow; }
};

inline Batches batches(const DeformJob& job) {
  const std::int64_t full = job.frames / kLanes, rest = job.frames % kLanes;
  return 2 * rest >= kLanes ? Batches{full + 1, 0} : Batches{full, rest};
}

struct Batch {
  bool wide;
  std::int64_t frame;   // first
  std::int64_t frames;  // real ones
  float* packed;        // one header of kLanes floats: [0] is 1 when any joint stretches
  Layout layout;

  bool stretches() const { return packed[0] != 0; }
  const float* records() const { return packed + kLanes; }
};

inline std::int64_t batch_floats(const DeformJob& job, bool wide) {
  const std::int64_t record = layout(job, wide).rows * (wide ? kLanes : 1);
  return kLanes + (job.joints + 1) * record;
}

inline Batch batch(const DeformJob& job, std::int64_t index) {
  const Batches all = batches(job);
  const bool wide = index < all.wide;
  const std::int64_t wides = wide ? index : all.wide, narrows = index - wides;
  float* packed = job.packed + wides * batch_floats(job, true) + narrows * batch_floats(job, false);
  const std::int64_t frame = wides * kLanes + narrows;
  const std::int64_t left = job.frames - frame;
  const std::int64_t frames = !wide ? 1 : left < kLanes ? left : kLanes;
  return {wide, frame, frames, packed, layout(job, wide)};
}

namespace detail {

inline float squared_norm(const float* matrix) {
  float sum = 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) sum += matrix[4 * i + j] * matrix[4 * i + j];
  }
  return sum;
}

// A = s·R up to the rounding of single precision, as nearly every palette is. Returns s, or 0.
inline double similarity(const double (&a)[3][3]) {
  double gram[3][3];
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) gram[i][j] = a[0][i] * a[0][j] + a[1][i] * a[1][j] + a[2][i] * a[2][j];
  }
  const double square = (gram[0][0] + gram[1][1] + gram[2][2]) / 3;
  double minor[3];
  cross(a[1], a[2], minor);
  if (!(dot(a[0], minor) > 0)) return 0;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) {
      if (!(__builtin_fabs(gram[i][j] - (i == j ? square : 0)) <= 2e-6 * square)) return 0;
    }
  }
  return __builtin_fabs(square - 1) <= 2e-6 ? 1 : __builtin_sqrt(square);
}

// Writes the 14 rows of a slot, `step` floats apart; returns whether the joint stretches.
inline bool dual_quaternion(const float* matrix, float* rows, int step) {
  double a[3][3], q[4], stretch[6] = {1, 1, 1};
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) a[i][j] = matrix[4 * i + j];
  }
  const double scale = similarity(a);
  if (scale != 0) {
    for (auto& row : a) {
      for (double& x : row) x /= scale;
    }
    quaternion(a, q);
    for (int i = 0; i < 3; ++i) stretch[i] = scale;
  } else {
    const Polar parts = polar(a);
    quaternion(parts.rotation, q);
    const auto& s = parts.stretch;
    const double all[6] = {s[0][0], s[1][1], s[2][2], s[0][1], s[0][2], s[1][2]};
    __builtin_memcpy(stretch, all, sizeof all);
  }
  const double t[3] = {matrix[3], matrix[7], matrix[11]};
  const double dual[4] = {0.5 * (t[0] * q[3] + t[1] * q[2] - t[2] * q[1]),
                          0.5 * (t[1] * q[3] + t[2] * q[0] - t[0] * q[2]),
                          0.5 * (t[2] * q[3] + t[0] * q[1] - t[1] * q[0]), -0.5 * dot(t, q)};
  bool stretches = false;
  for (int i = 0; i < 4; ++i) {
    rows[i * step] = static_cast<float>(q[i]);
    rows[(4 + i) * step] = static_cast<float>(dual[i]);
  }
  for (int i = 0; i < 6; ++i) {
    rows[(kStretchRow + i) * step] = static_cast<float>(stretch[i]);
    stretches |= stretch[i] != (i < 3 ? 1 : 0);
  }
  return stretches;
}

}  // namespace detail

inline constexpr float kIdentity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

namespace detail {

inline void pack_points(const DeformJob& job, const Batch& into) {
  const int lanes = into.wide ? kLanes : 1;
  const std::int64_t record = into.layout.rows * lanes;
  // Rows with a frame in each lane serve scattered and morphed vertices only.
  const bool rows = into.wide && (job.panels.panels == nullptr || job.panels.scattered || job.morphs.first != nullptr);
  for (int lane = 0; lane < lanes; ++lane) {
    const std::int64_t ahead = lane < into.frames ? lane : into.frames - 1;
    const float* frame = job.palette + (into.frame + ahead) * job.joints * 12;
    for (std::int64_t slot = 0; slot <= job.joints; ++slot) {
      const float* matrix = slot == 0 ? kIdentity : frame + (slot - 1) * 12;
      float* to = into.packed + kLanes + slot * record;
      for (int r = 0; rows && r < kMatrixRows; ++r) to[r * kLanes + lane] = matrix[r];
      float* columns = to + (into.wide ? kMatrixRows * kLanes + lane * kColumnFloats : 0);
      for (int q = 0; q < 4; ++q) {
        for (int k = 0; k < 3; ++k) columns[4 * q + k] = matrix[4 * k + q];
        columns[4 * q + 3] = 0;
      }
    }
  }
}

}  // namespace detail

inline void pack_batch(const DeformJob& job, const Batch& into) {
  if (is_points(job)) return detail::pack_points(job, into);
  const int lanes = into.wide ? kLanes : 1;
  const std::int64_t record = into.layout.rows * lanes;
  bool stretches = false;
  if (!into.wide) __builtin_memset(into.packed, 0, (kLanes + (job.joints + 1) * record) * sizeof(float));
  for (int lane = 0; lane < lanes; ++lane) {
    const std::int64_t ahead = lane < into.frames ? lane : into.frames - 1;
    const float* frame = job.palette + (into.frame + ahead) * job.joints * 12;
    for (std::int64_t slot = 0; slot <= job.joints; ++slot) {
      const float* matrix = slot == 0 ? kIdentity : frame + (slot - 1) * 12;
      float* rows = into.packed + kLanes + slot * record + lane;
      const float norm = detail::squared_norm(matrix);
      if (job.method != Method::dqs) {
        for (int r = 0; r < kMatrixRows; ++r) rows[r * lanes] = matrix[r];
        rows[kMatrixRows * lanes] = norm;
      }
      if (job.method != Method::lbs) {
        float* dual = rows + into.layout.dual * lanes;
        stretches |= detail::dual_quaternion(matrix, dual, lanes);
        dual[kDualNormRow * lanes] = norm;
      }
    }
  }
  into.packed[0] = stretches ? 1.0f : 0.0f;
}

}  // namespace bunraku::BUNRAKU_LEVEL::skinning
