// Frames in the lanes: every vertex reads the joints of as many frames as a register holds.

#include "sdef/sdef.hpp"

#include "rotation/interpolation.hpp"
#include "rotation/matrix.hpp"

namespace bunraku::BUNRAKU_LEVEL {
namespace {

using V = rotation::Vector<double>;
constexpr int kLanes = Lanes<double>::kCount;

// Of a joint in a batch: its matrix, the rotation and the (mean) scale of that, and the dual part
// of the rigid motion that is left without the scale.
struct Joint {
  V matrix[12], turn[4], dual[4], scale;
};

int frames_in(const SdefJob& job, std::int64_t batch) {
  const std::int64_t left = job.frames - batch * kLanes;
  return static_cast<int>(left < kLanes ? left : kLanes);
}

std::int64_t batches(const SdefJob& job) { return (job.frames + kLanes - 1) / kLanes; }

std::int64_t batch_numbers(const SdefJob& job) {
  return job.vertices.joint_count * static_cast<std::int64_t>(sizeof(Joint) / sizeof(double));
}

Joint* joints_of(const SdefJob& job, std::int64_t batch) {
  return reinterpret_cast<Joint*>(job.packed + batch * batch_numbers(job));
}

void pack(const SdefJob& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t batch = begin; batch < end; ++batch) {
    const int frames = frames_in(job, batch);
    Joint* const joints = joints_of(job, batch);
    for (std::int64_t j = 0; j < job.vertices.joint_count; ++j) {
      Joint& joint = joints[j];
      for (int l = 0; l < kLanes; ++l) {
        const std::int64_t frame = batch * kLanes + (l < frames ? l : frames - 1);
        const float* const from = job.palette + 12 * (frame * job.palette_joints + job.vertices.joints[j]);
        for (int i = 0; i < 12; ++i) joint.matrix[i][l] = static_cast<double>(from[i]);
      }
      V rows[9], q[4];
      joint.scale = V{};
      for (int c = 0; c < 3; ++c) {
        const V x = joint.matrix[c], y = joint.matrix[4 + c], z = joint.matrix[8 + c];
        const V length = rotation::root(x * x + y * y + z * z);
        const V size = length > 0 ? length : rotation::splat<double>(1);
        rows[c] = x / size;
        rows[3 + c] = y / size;
        rows[6 + c] = z / size;
        joint.scale += length / 3;
      }
      rotation::quaternion_of<double>(rows, q);
      for (int i = 0; i < 4; ++i) joint.turn[i] = q[i];
      const V x = joint.matrix[3], y = joint.matrix[7], z = joint.matrix[11];
      joint.dual[0] = 0.5 * (x * q[3] + y * q[2] - z * q[1]);
      joint.dual[1] = 0.5 * (y * q[3] + z * q[0] - x * q[2]);
      joint.dual[2] = 0.5 * (z * q[3] + x * q[1] - y * q[0]);
      joint.dual[3] = -0.5 * (x * q[0] + y * q[1] + z * q[2]);
    }
  }
}

// How a vertex moves: turned and scaled about `center`, which goes to `goal`.
struct Motion {
  V turn[9], scale, center[3], goal[3];
};

void spherical(const SphericalVertex& vertex, const Joint* joints, Motion& motion) {
  const Joint& a = joints[vertex.joints[0]];
  const Joint& b = joints[vertex.joints[1]];
  const double w1 = vertex.share, w0 = 1 - w1;
  V q[4];
  rotation::slerp<double>(a.turn, b.turn, rotation::splat<double>(w1), q);
  rotation::matrix_of(q, motion.turn);
  motion.scale = w0 * a.scale + w1 * b.scale;
  const double* const c = vertex.first;
  const double* const d = vertex.second;
  for (int i = 0; i < 3; ++i) {
    const V* const m = a.matrix + 4 * i;
    const V* const n = b.matrix + 4 * i;
    motion.center[i] = rotation::splat<double>(vertex.center[i]);
    motion.goal[i] = w0 * (m[0] * c[0] + m[1] * c[1] + m[2] * c[2] + m[3]) +
                     w1 * (n[0] * d[0] + n[1] * d[1] + n[2] * d[2] + n[3]);
  }
}

// Signs are chosen against the first joint (Kavan et al. 2008).
void dual(const DualInfluence* begin, const DualInfluence* end, const Joint* joints, Motion& motion) {
  const Joint& first = joints[begin->joint];
  V q[4] = {}, d[4] = {}, inverse[4];
  motion.scale = V{};
  for (const DualInfluence* each = begin; each < end; ++each) {
    const Joint& joint = joints[each->joint];
    const V weight = rotation::splat<double>(each->weight);
    const V share = rotation::negate_where(rotation::dot4(first.turn, joint.turn) < 0, weight);
    for (int i = 0; i < 4; ++i) {
      q[i] += share * joint.turn[i];
      d[i] += share * joint.dual[i];
    }
    motion.scale += weight * joint.scale;
  }
  const V square = rotation::dot4(q, q);
  // Opposite turns of equal weight cancel out: then the first joint counts alone.
  const auto lost = square < 1e-20;
  const V size = lost ? rotation::splat<double>(1) : rotation::root(square);
  for (int i = 0; i < 4; ++i) {
    q[i] = lost ? first.turn[i] : q[i] / size;
    d[i] = lost ? first.dual[i] : d[i] / size;
  }
  rotation::matrix_of(q, motion.turn);
  rotation::conjugate(q, inverse);
  V translation[4];
  rotation::multiply(d, inverse, translation);
  for (int i = 0; i < 3; ++i) {
    motion.center[i] = V{};
    motion.goal[i] = translation[i] + translation[i];
  }
}

// One row of each frame of the batch, `width` numbers at `at`.
void read(const RestRows& rows, std::int64_t first, int frames, std::int64_t at, V out[3]) {
  for (int l = 0; l < kLanes; ++l) {
    const float* const from = rows.data + (first + (l < frames ? l : frames - 1)) * rows.frame_stride + at;
    for (int i = 0; i < 3; ++i) out[i][l] = static_cast<double>(from[i]);
  }
}

void write(const BentRows& rows, std::int64_t first, int frames, std::int64_t at, const V in[3]) {
  for (int l = 0; l < frames; ++l) {
    float* const to = rows.data + (first + l) * rows.frame_stride + at;
    for (int i = 0; i < 3; ++i) to[i] = static_cast<float>(in[i][l]);
  }
}

void turn(const V m[9], const V v[3], V out[3]) {
  for (int i = 0; i < 3; ++i) out[i] = m[3 * i] * v[0] + m[3 * i + 1] * v[1] + m[3 * i + 2] * v[2];
}

void bend(const SdefJob& job, std::int64_t batch, std::int64_t begin, std::int64_t end) {
  const SdefView& vertices = job.vertices;
  const Joint* const joints = joints_of(job, batch);
  const std::int64_t first = batch * kLanes;
  const int frames = frames_in(job, batch);
  Motion motion;
  V v[3]{}, moved[3];
  for (std::int64_t i = begin; i < end; ++i) {
    if (i < vertices.spherical_count) {
      spherical(vertices.spherical[i], joints, motion);
    } else {
      const std::int32_t* const starts = vertices.dual_starts + (i - vertices.spherical_count);
      dual(vertices.influences + starts[0], vertices.influences + starts[1], joints, motion);
    }
    const std::int64_t index = vertices.indices[i];
    read(job.positions, first, frames, 3 * i, v);
    for (int k = 0; k < 3; ++k) v[k] = motion.scale * (v[k] - motion.center[k]);
    turn(motion.turn, v, moved);
    for (int k = 0; k < 3; ++k) moved[k] += motion.goal[k];
    write(job.out_positions, first, frames, 3 * index, moved);
    for (int kind = 0; kind < 2; ++kind) {
      const bool normals = kind == 0;
      const RestRows& rest = normals ? job.normals : job.tangents;
      if (rest.data == nullptr) continue;
      const int width = normals ? 3 : 4;  // the handedness of a tangent stays
      read(rest, first, frames, width * i, v);
      turn(motion.turn, v, moved);
      const V square = rotation::dot3(moved, moved);
      const V size = square > 0 ? rotation::root(square) : rotation::splat<double>(1);
      for (int k = 0; k < 3; ++k) moved[k] /= size;
      const BentRows& out = normals ? job.out_normals : job.out_tangents;
      write(out, first, frames, width * index, moved);
      for (int l = 0; l < frames && !normals; ++l) {
        out.data[(first + l) * out.frame_stride + 4 * index + 3] = rest.data[(first + l) * rest.frame_stride + 4 * i + 3];
      }
    }
  }
}

}  // namespace

extern const SdefKernels sdef_kernels{&batches, &batch_numbers, &pack, &bend};

}  // namespace bunraku::BUNRAKU_LEVEL
