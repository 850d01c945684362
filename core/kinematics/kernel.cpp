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
// its very last vector, which `final` says this is.
template <class T>
inline void gather3(const Rows<const T>& rows, bool final, Vector<T> v[4]) {
  if (final) {
    T copies[Lanes<T>::kCount][4] = {};
    for (int l = 0; l < Lanes<T>::kCount; ++l) {
      for (int i = 0; i < 3; ++i) copies[l][i] = rows[l][i];
    }
    Lanes<T>::gather(Rows<const T>{copies[0], 4, Lanes<T>::kCount - 1}, v);
  } else {
    Lanes<T>::gather(rows, v);
  }
}

// Asks for memory that the next group will use; beyond the end of an array this does nothing. A
// group's streams, four per lane, are too many for the processor to foresee: for 10 000 frames of
// 100 joints this raised float32 from 102 to 182 and float64 from 78 to 100 million joints/s.
template <class T>
inline void ahead(const T* from, int count) {
  for (int i = 0; i < count; i += 64 / static_cast<int>(sizeof(T))) __builtin_prefetch(from + i);
}

// The frames [first, first + last].
template <class T>
inline void group(const HierarchyJob<T>& job, std::int64_t first, int last, T* scratch) {
  constexpr int kCount = Lanes<T>::kCount;
  const bool reaches_end = first + last + 1 == job.frames;
  const std::int64_t start = first * job.nodes;
  for (std::int64_t i = 0; i < job.nodes; ++i) {
    const std::int64_t node = job.order[i];
    const std::int64_t parent = job.parents[node];
    const std::int64_t at = start + node;
    const bool final = reaches_end && node == job.nodes - 1;
    Vector<T> t[4], q[4], s[4], local[12];
    gather3(Rows<const T>{job.translations + 3 * at, 3 * job.nodes, last}, final, t);
    Lanes<T>::gather(Rows<const T>{job.rotations + 4 * at, 4 * job.nodes, last}, q);
    gather3(Rows<const T>{job.scales + 3 * at, 3 * job.nodes, last}, final, s);
    compose<T>(t, q, s, local);

    // The next group's frames follow in memory; one node's share of them at a time.
    const std::int64_t next = start + (job.nodes + i) * kCount;
    ahead(job.translations + 3 * next, 3 * kCount);
    ahead(job.rotations + 4 * next, 4 * kCount);
    ahead(job.scales + 3 * next, 3 * kCount);
    ahead(job.globals + 12 * next, 12 * kCount);

    T* const kept = scratch + node * 12 * kCount;
    for (int row = 0; row < 3; ++row) {
      Vector<T> out[4];
      if (parent < 0) {
        for (int c = 0; c < 4; ++c) out[c] = local[4 * row + c];
      } else {
        Vector<T> p[4];
        for (int c = 0; c < 4; ++c) {
          p[c] = load<Vector<T>>(scratch + (12 * parent + 4 * row + c) * kCount);
        }
        for (int c = 0; c < 4; ++c) {
          out[c] = p[0] * local[c] + p[1] * local[4 + c] + p[2] * local[8 + c];
        }
        out[3] += p[3];
      }
      for (int c = 0; c < 4; ++c) store(kept + (4 * row + c) * kCount, out[c]);
      Lanes<T>::scatter(out, Rows<T>{job.globals + 12 * at + 4 * row, 12 * job.nodes, last});
    }
  }
}

template <class T>
void globals(const HierarchyJob<T>& job, std::int64_t begin, std::int64_t end, T* scratch) {
  constexpr int kCount = Lanes<T>::kCount;
  std::int64_t frame = begin;
  for (; frame + kCount <= end; frame += kCount) group(job, frame, kCount - 1, scratch);
  if (frame < end) group(job, frame, static_cast<int>(end - frame) - 1, scratch);
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
