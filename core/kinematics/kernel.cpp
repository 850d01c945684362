// Forward kinematics with as many frames side by side as a register has lanes.

#include "kinematics/kinematics.hpp"
#include "kinematics/lanes.hpp"

namespace bunraku::BUNRAKU_LEVEL {
namespace {

template <class T>
using Vector = typename Lanes<T>::Vector;

// Rotation, scale and translation as the rows of a 3×4 matrix.
template <class T>
inline void compose(const Vector<T> t[4], const Vector<T> q[4], const Vector<T> s[4], Vector<T> m[12]) {
  const Vector<T> x2 = q[0] + q[0], y2 = q[1] + q[1], z2 = q[2] + q[2];
  const Vector<T> xx = q[0] * x2, yy = q[1] * y2, zz = q[2] * z2;
  const Vector<T> xy = q[0] * y2, yz = q[1] * z2, zx = q[2] * x2;
  const Vector<T> xw = q[3] * x2, yw = q[3] * y2, zw = q[3] * z2;
  const T one = 1;
  m[0] = (one - (yy + zz)) * s[0];
  m[1] = (xy - zw) * s[1];
  m[2] = (zx + yw) * s[2];
  m[3] = t[0];
  m[4] = (xy + zw) * s[0];
  m[5] = (one - (zz + xx)) * s[1];
  m[6] = (yz - xw) * s[2];
  m[7] = t[1];
  m[8] = (zx - yw) * s[0];
  m[9] = (yz + xw) * s[1];
  m[10] = (one - (xx + yy)) * s[2];
  m[11] = t[2];
}

// Three numbers of each frame. Loads of four would read one number past the end of the array for
// its very last vector, which `last` says this is.
template <class T>
inline void gather3(const T* base, const std::int64_t offsets[], bool last, Vector<T> v[4]) {
  constexpr int kCount = Lanes<T>::kCount;
  const T* rows[kCount];
  T copies[kCount][4];
  for (int l = 0; l < kCount; ++l) {
    rows[l] = base + 3 * offsets[l];
    if (last) {
      for (int i = 0; i < 3; ++i) copies[l][i] = rows[l][i];
      copies[l][3] = 0;
      rows[l] = copies[l];
    }
  }
  Lanes<T>::gather(rows, v);
}

template <class T>
inline void group(const HierarchyJob<T>& job, std::int64_t first, int count, T* scratch) {
  constexpr int kCount = Lanes<T>::kCount;
  const bool reaches_end = first + count == job.frames;
  std::int64_t frame_starts[kCount];
  for (int l = 0; l < kCount; ++l) {
    frame_starts[l] = (first + (l < count ? l : count - 1)) * job.nodes;  // spare lanes repeat
  }
  for (std::int64_t i = 0; i < job.nodes; ++i) {
    const std::int64_t node = job.order[i];
    const std::int64_t parent = job.parents[node];
    std::int64_t offsets[kCount];
    const T* rotations[kCount];
    for (int l = 0; l < kCount; ++l) {
      offsets[l] = frame_starts[l] + node;
      rotations[l] = job.rotations + 4 * offsets[l];
    }
    const bool last = reaches_end && node == job.nodes - 1;
    Vector<T> t[4], q[4], s[4], local[12];
    gather3(job.translations, offsets, last, t);
    Lanes<T>::gather(rotations, q);
    gather3(job.scales, offsets, last, s);
    compose<T>(t, q, s, local);

    T* const kept = scratch + node * 12 * kCount;
    T* const from = scratch + parent * 12 * kCount;
    for (int row = 0; row < 3; ++row) {
      Vector<T> out[4];
      if (parent < 0) {
        for (int c = 0; c < 4; ++c) out[c] = local[4 * row + c];
      } else {
        Vector<T> p[4];
        for (int c = 0; c < 4; ++c) p[c] = load<Vector<T>>(from + (4 * row + c) * kCount);
        for (int c = 0; c < 4; ++c) {
          out[c] = p[0] * local[c] + p[1] * local[4 + c] + p[2] * local[8 + c];
        }
        out[3] += p[3];
      }
      T* rows[kCount];
      for (int l = 0; l < kCount; ++l) rows[l] = job.globals + 12 * offsets[l] + 4 * row;
      for (int c = 0; c < 4; ++c) store(kept + (4 * row + c) * kCount, out[c]);
      Lanes<T>::scatter(out, rows, count);
    }
  }
}

template <class T>
void globals(const HierarchyJob<T>& job, std::int64_t begin, std::int64_t end, T* scratch) {
  constexpr int kCount = Lanes<T>::kCount;
  std::int64_t frame = begin;
  for (; frame + kCount <= end; frame += kCount) group(job, frame, kCount, scratch);
  if (frame < end) group(job, frame, static_cast<int>(end - frame), scratch);
}

void palette(const PaletteJob& job, std::int64_t begin, std::int64_t end) {
  typedef double Row __attribute__((vector_size(32)));
  for (std::int64_t frame = begin; frame < end; ++frame) {
    const double* const globals = job.globals + frame * job.nodes * 12;
    float* out = job.palette + frame * job.joint_count * 12;
    for (std::int64_t j = 0; j < job.joint_count; ++j, out += 12) {
      const double* const g = globals + static_cast<std::int64_t>(job.joints[j]) * 12;
      const double* const b = job.inverse_binds + j * 16;
      const Row b0 = load<Row>(b), b1 = load<Row>(b + 4), b2 = load<Row>(b + 8);
      for (int row = 0; row < 3; ++row) {
        const double* const r = g + 4 * row;
        const Row product = r[0] * b0 + r[1] * b1 + r[2] * b2 + Row{0, 0, 0, r[3]};
        store(out + 4 * row, __builtin_convertvector(product, Float4));
      }
    }
  }
}

}  // namespace

extern const KinematicsKernels kinematics_kernels{
    {&globals<float>, 12 * Lanes<float>::kCount},
    {&globals<double>, 12 * Lanes<double>::kCount},
    &palette,
};

}  // namespace bunraku::BUNRAKU_LEVEL
