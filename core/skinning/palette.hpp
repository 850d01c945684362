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

// Linear, positions alone (points.hpp): first the columns of each slot and frame, as x, y, z and 0;
// then, for scattered vertices, group by group of kLanes frames, the rows of each slot, with a frame
// in each lane, column by column.
// Sixteen frames wrote to more places at once than memory takes: a tenth slower, 32 a quarter.
inline constexpr int kColumnFloats = 16, kPointFrames = 8;

// A batch begins with this many floats: a line of the cache, so that no column lies in two.
inline constexpr int kHeader = 16;

BUNRAKU_INLINE bool is_points(const DeformJob& job) {
  return job.method == Method::lbs && job.normals == nullptr && job.tangents == nullptr;
}

BUNRAKU_INLINE Layout layout(const DeformJob& job, bool wide) {
  const Method method = job.method;
  if (method == Method::lbs) return {wide ? 13 : 16, 0};
  if (method == Method::dqs) return {wide ? 15 : 16, 0};
  return {wide ? 28 : 32, wide ? 13 : 16};
}

// From half the lanes on, frames that do not fill them cost less padded than one by one.
inline std::int64_t groups_of(std::int64_t frames) { return (frames + kLanes / 2) / kLanes; }

struct Batches {
  std::int64_t wide, narrow;
  std::int64_t count() const { return wide + narrow; }
};

// Frames of a wide batch. Positions alone take as many as share the products of a panel.
inline std::int64_t batch_frames(const DeformJob& job) {
  if (!is_points(job)) return kLanes;
  return job.frames < kPointFrames ? job.frames : kPointFrames;
}

inline Batches batches(const DeformJob& job) {
  if (is_points(job) && job.frames > 1) return {(job.frames + kPointFrames - 1) / kPointFrames, 0};
  const std::int64_t wide = groups_of(job.frames), left = job.frames - wide * kLanes;
  return {wide, left > 0 ? left : 0};
}

struct Batch {
  bool wide;
  std::int64_t frame;   // first
  std::int64_t frames;  // real ones
  float* packed;        // a header of kHeader floats: [0] is 1 when any joint stretches
  Layout layout;

  bool stretches() const { return packed[0] != 0; }
  const float* records() const { return packed + kHeader; }
};

inline std::int64_t batch_floats(const DeformJob& job, bool wide) {
  std::int64_t slot = layout(job, wide).rows * (wide ? kLanes : 1);
  if (is_points(job)) {
    const std::int64_t frames = wide ? batch_frames(job) : 1;
    slot = frames * kColumnFloats + (job.panels.scattered ? groups_of(frames) * kMatrixRows * kLanes : 0);
  }
  return kHeader + ((job.joints + 1) * slot + kHeader - 1) / kHeader * kHeader;
}

inline Batch batch(const DeformJob& job, std::int64_t index) {
  const Batches all = batches(job);
  const bool wide = index < all.wide;
  const std::int64_t wides = wide ? index : all.wide, narrows = index - wides, most = batch_frames(job);
  float* packed = job.packed + wides * batch_floats(job, true) + narrows * batch_floats(job, false);
  const std::int64_t frame = wides * most + narrows;
  const std::int64_t left = job.frames - frame;
  const std::int64_t frames = !wide ? 1 : left < most ? left : most;
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

// The rows of a 3×4 matrix as four columns of x, y, z and 0.
BUNRAKU_INLINE void to_columns(const float* matrix, float* columns) {
  const Quad x = load_quad(matrix), y = load_quad(matrix + 4), z = load_quad(matrix + 8), none{};
  const Quad xy = __builtin_shufflevector(x, y, 0, 4, 1, 5), z0 = __builtin_shufflevector(z, none, 0, 4, 1, 5);
  const Quad xy2 = __builtin_shufflevector(x, y, 2, 6, 3, 7), z2 = __builtin_shufflevector(z, none, 2, 6, 3, 7);
  const Quad four[4] = {
      __builtin_shufflevector(xy, z0, 0, 1, 4, 5), __builtin_shufflevector(xy, z0, 2, 3, 6, 7),
      __builtin_shufflevector(xy2, z2, 0, 1, 4, 5), __builtin_shufflevector(xy2, z2, 2, 3, 6, 7)};
  __builtin_memcpy(columns, four, sizeof four);
}

inline void pack_points(const DeformJob& job, const Batch& into) {
  const std::int64_t slots = job.joints + 1, step = job.joints * 12;
  const float* const palette = job.palette + into.frame * step;
  float* columns = into.packed + kHeader;
  float* rows = columns + slots * into.frames * kColumnFloats;
  for (std::int64_t slot = 0; slot < slots; ++slot) {
    for (std::int64_t f = 0; f < into.frames; ++f, columns += kColumnFloats) {
      to_columns(slot == 0 ? kIdentity : palette + f * step + (slot - 1) * 12, columns);
    }
  }
  if (!job.panels.scattered) return;
  for (std::int64_t group = 0; group < groups_of(into.frames); ++group) {
    const std::int64_t first = group * kLanes;
    const int last = static_cast<int>(into.frames - 1 - first);
    for (std::int64_t slot = 0; slot < slots; ++slot, rows += kMatrixRows * kLanes) {
      const float* const matrix = slot == 0 ? kIdentity : palette + first * step + (slot - 1) * 12;
      for (int k = 0; k < 3; ++k) {
        Vec row[4];
        Lanes<float>::gather(Rows<const float>{matrix + 4 * k, slot == 0 ? 0 : step, last}, row);
        for (int q = 0; q < 4; ++q) store(rows + (3 * q + k) * kLanes, row[q]);
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
  if (!into.wide) __builtin_memset(into.packed, 0, (kHeader + (job.joints + 1) * record) * sizeof(float));
  for (int lane = 0; lane < lanes; ++lane) {
    const std::int64_t ahead = lane < into.frames ? lane : into.frames - 1;
    const float* frame = job.palette + (into.frame + ahead) * job.joints * 12;
    for (std::int64_t slot = 0; slot <= job.joints; ++slot) {
      const float* matrix = slot == 0 ? kIdentity : frame + (slot - 1) * 12;
      float* rows = into.packed + kHeader + slot * record + lane;
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
