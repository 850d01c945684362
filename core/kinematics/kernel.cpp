// Forward kinematics with as many frames side by side as a register has lanes.

#include "kinematics/kinematics.hpp"
#include "vectors.hpp"

namespace bunraku::BUNRAKU_LEVEL {
namespace {

template <class T>
using Vector = typename Lanes<T>::Vector;

// Rotation and scale as the left three columns of the rows of a 3×4 matrix. Doubling the scales
// and not the quaternion keeps the longest chain of instructions at four.
template <class T>
inline void compose(const Vector<T> q[4], const Vector<T> s[4], Vector<T> m[12]) {
  const Vector<T> x = q[0], y = q[1], z = q[2], w = q[3];
  const Vector<T> xx = x * x, yy = y * y, zz = z * z, xw = x * w, yw = y * w, zw = z * w;
  const Vector<T> s0 = s[0] + s[0], s1 = s[1] + s[1], s2 = s[2] + s[2];
  m[0] = fused(-fused(y, y, zz), s0, s[0]);
  m[1] = fused(x, y, -zw) * s1;
  m[2] = fused(x, z, yw) * s2;
  m[4] = fused(x, y, zw) * s0;
  m[5] = fused(-fused(z, z, xx), s1, s[1]);
  m[6] = fused(y, z, -xw) * s2;
  m[8] = fused(x, z, -yw) * s0;
  m[9] = fused(y, z, xw) * s1;
  m[10] = fused(-fused(x, x, yy), s2, s[2]);
}

// Asks for memory that the next group will use; beyond the end of an array this does nothing. A
// group's streams, four per lane, are too many for the processor to foresee: for 10 000 frames of
// 100 joints this raised float32 from 102 to 182 and float64 from 78 to 100 million joints/s. It
// costs a tenth where the caches hold the whole job anyway.
constexpr std::int64_t kNear = 4 << 20;

template <class T>
inline void ahead(const T* from, int count) {
  for (int i = 0; i < count; i += 64 / static_cast<int>(sizeof(T))) __builtin_prefetch(from + i);
}

// The arrays of one group of frames, by lane.
template <class T>
struct Group {
  static constexpr int kCount = Lanes<T>::kCount;
  const T *translations[kCount], *rotations[kCount], *scales[kCount];
  T* globals[kCount];

  // The frames [first, first + last]; lanes beyond repeat the last. Three numbers are loaded as
  // four: the last frame of all is copied to where there is one more.
  Group(const HierarchyJob<T>& job, std::int64_t first, int last, T* copies) {
    for (int l = 0; l < kCount; ++l) {
      const std::int64_t at = (first + (l < last ? l : last)) * job.nodes;
      translations[l] = job.translations + 3 * at;
      rotations[l] = job.rotations + 4 * at;
      scales[l] = job.scales + 3 * at;
      globals[l] = job.globals + 12 * at;
    }
    if (first + last + 1 < job.frames) return;
    const std::int64_t numbers = 3 * job.nodes;
    for (std::int64_t i = 0; i < numbers; ++i) {
      copies[i] = translations[last][i];
      copies[numbers + 1 + i] = scales[last][i];
    }
    copies[numbers] = copies[2 * numbers + 1] = 0;
    for (int l = last; l < kCount; ++l) {
      translations[l] = copies;
      scales[l] = copies + numbers + 1;
    }
  }
};

// The numbers of one node in a table of frames.
template <class T>
struct At {
  T* const* frames;
  std::int64_t offset;

  T* operator[](int lane) const { return frames[lane] + offset; }
};

template <class T>
void walk(const HierarchyJob<T>& job, std::int64_t first, int last, bool far, T* scratch) {
  constexpr int kCount = Lanes<T>::kCount;
  const Group<T> group(job, first, last, scratch + 12 * kCount * job.slots);
  const HierarchyStep* const steps = job.steps;
  const std::int64_t nodes = job.nodes;
  for (std::int64_t i = 0; i < nodes; ++i) {
    const HierarchyStep step = steps[i];
    const std::int64_t node = step.node;
    Vector<T> t[4], q[4], s[4], m[12];
    Lanes<T>::gather(At<const T>{group.rotations, 4 * node}, q);
    Lanes<T>::gather(At<const T>{group.scales, 3 * node}, s);
    compose<T>(q, s, m);
    Lanes<T>::gather(At<const T>{group.translations, 3 * node}, t);
    m[3] = t[0], m[7] = t[1], m[11] = t[2];

    if (far) {  // the next group's frames follow in memory; one node's share of them at a time
      const std::int64_t next = (nodes + i) * kCount;
      ahead(job.translations + 3 * (first * nodes + next), 3 * kCount);
      ahead(job.rotations + 4 * (first * nodes + next), 4 * kCount);
      ahead(job.scales + 3 * (first * nodes + next), 3 * kCount);
      ahead(job.globals + 12 * (first * nodes + next), 12 * kCount);
    }

    if (step.above >= 0) {
      const T* const above = scratch + std::int64_t{step.above} * 12 * kCount;
      for (int c = 0; c < 4; ++c) {
        const Vector<T> x = m[c], y = m[4 + c], z = m[8 + c];
        for (int row = 0; row < 12; row += 4) {
          const auto p = [&](int k) { return load<Vector<T>>(above + (row + k) * kCount); };
          const Vector<T> first = c == 3 ? fused(p(0), x, p(3)) : p(0) * x;
          m[row + c] = fused(p(2), z, fused(p(1), y, first));
        }
      }
    }
    if (step.kept >= 0) {
      T* const kept = scratch + std::int64_t{step.kept} * 12 * kCount;
      for (int k = 0; k < 12; ++k) store(kept + k * kCount, m[k]);
    }
    for (int row = 0; row < 12; row += 4) Lanes<T>::scatter(m + row, At<T>{group.globals, 12 * node + row});
  }
}

template <class T>
void globals(const HierarchyJob<T>& job, std::int64_t begin, std::int64_t end, T* scratch) {
  constexpr int kCount = Lanes<T>::kCount;
  const bool far = job.frames * job.nodes * 22 * static_cast<std::int64_t>(sizeof(T)) > kNear;
  for (std::int64_t frame = begin; frame < end; frame += kCount) {
    const std::int64_t left = end - frame;
    walk(job, frame, static_cast<int>(left < kCount ? left : kCount) - 1, far, scratch);
  }
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
    {&globals<float>, Lanes<float>::kCount},
    {&globals<double>, Lanes<double>::kCount},
    &palette,
};

}  // namespace bunraku::BUNRAKU_LEVEL
