// Rays on a posed skin, compiled once per instruction set.

#include "bvh/traverse.hpp"
#include "posed/leaf.hpp"

namespace bunraku::BUNRAKU_LEVEL::posed {
namespace {

using bvh::ClosestJob;
using bvh::Hit;
using bvh::Rays;
using bvh::Ray;
using bvh::TreeView;

constexpr Hit kMiss{kInfinity, 0, 0, -1, -1, 0, 0};

BUNRAKU_INLINE bool start(const TreeView& frame, const Rays& rays, std::int64_t r, Ray& ray) {
  ray.skip = rays.skip.data[r * rays.skip.stride];
  if (ray.skip < 0) ray.skip = bvh::kEmpty;  // -1 marks unused lanes
  ray.front_only = rays.front_only;
  return bvh::prepare(ray, frame, rays.origins + 3 * r, rays.directions + 3 * r,
                      rays.t_min.data[r * rays.t_min.stride], rays.t_max.data[r * rays.t_max.stride]);
}

// What prepares a ray: no nodes, only where the pose stands and how far it reaches.
TreeView frame_of(const Pose& pose) {
  TreeView frame{};
  for (int k = 0; k < 3; ++k) frame.centre[k] = pose.centre[k];
  frame.reach = pose.reach;
  return frame;
}

// Calls visit(hit) for the hits of every leaf the ray may meet; it may shrink the ray's range.
// Ends after a leaf for which done() is true.
template <Method kMethod, typename Visit, typename Done>
BUNRAKU_INLINE void walk(const RestView& view, const Pose& pose, Leaves& leaves, Ray& ray, bvh::Counts& counts,
                         const Visit& visit, const Done& done) {
  bvh::Waiting stack[bvh::kStack];
  bvh::Waiting* top = stack;
  const bvh::Slabs slabs(ray);
  std::int32_t current;
  if (view.node_count == 0) {
    if (view.leaf_count == 0) return;
    current = ~0;
  } else {
    counts.boxes += kWidth;
    current = bvh::descend(pose.root, ray, slabs, stack, top);
  }
  while (current != bvh::kEmpty) {
    if (current >= 0) {
      bvh::Node node;
      bound_node<kMethod>(view, pose, current, node);
      counts.boxes += kWidth;
      current = bvh::descend(node, ray, slabs, stack, top);
      continue;
    }
    leaves.bend<kMethod>(~current);
    counts.primitives += kWidth;
    bvh::visit_hits<bvh::Kind::triangles, false>(leaves.tree(), 0, ray, visit);
    if (done()) return;
    current = bvh::next_waiting(stack, top, ray);
  }
}

// The closest of a ray's hits, and the corners of its triangle.
struct Best {
  Hit hit = kMiss;
  float corners[9];
};

template <Method kMethod>
BUNRAKU_INLINE void find_closest(const RestView& view, const Pose& pose, Leaves& leaves, Ray& ray,
                                 bvh::Counts& counts, Best& best) {
  walk<kMethod>(
      view, pose, leaves, ray, counts,
      [&](const Hit& hit) {
        if (!(hit.t < best.hit.t || (hit.t == best.hit.t && hit.primitive < best.hit.primitive))) return;
        best.hit = hit;
        ray.set_far(hit.t);
        for (int row = 0; row < 9; ++row) best.corners[row] = leaves.tree().packets[0].data[row][hit.lane];
      },
      [] { return false; });
}

void write_normal(const Best& best, float* normal) {
  double n[3] = {0, 0, 0};
  if (best.hit.primitive >= 0) {
    double e[2][3];
    for (int k = 0; k < 3; ++k) {
      e[0][k] = static_cast<double>(best.corners[3 + k]) - best.corners[k];
      e[1][k] = static_cast<double>(best.corners[6 + k]) - best.corners[k];
    }
    skinning::detail::cross(e[0], e[1], n);
  }
  const double length = __builtin_sqrt(skinning::detail::dot(n, n));
  for (int k = 0; k < 3; ++k) normal[k] = length > 0 ? static_cast<float>(n[k] / length) : 0.0f;
}

template <Method kMethod>
void closest_of(const RestView& view, const Pose& pose, const ClosestJob& job, Scratch scratch, std::int64_t begin,
                std::int64_t end) {
  const TreeView frame = frame_of(pose);
  Leaves leaves(view, pose, scratch);
  for (std::int64_t r = begin; r < end; ++r) {
    Ray ray;
    Best best;
    bvh::Counts counts;
    if (start(frame, job.rays, r, ray)) find_closest<kMethod>(view, pose, leaves, ray, counts, best);
    job.t[r] = best.hit.t;
    job.primitive[r] = best.hit.primitive;
    job.u[r] = best.hit.u;
    job.v[r] = best.hit.v;
    if (job.normal != nullptr) write_normal(best, job.normal + 3 * r);
    if (job.box_tests != nullptr) {
      job.box_tests[r] = counts.boxes;
      job.primitive_tests[r] = counts.primitives;
    }
  }
}

template <Method kMethod>
void any_of(const RestView& view, const Pose& pose, const bvh::AnyJob& job, Scratch scratch, std::int64_t begin,
            std::int64_t end) {
  const TreeView frame = frame_of(pose);
  Leaves leaves(view, pose, scratch);
  for (std::int64_t r = begin; r < end; ++r) {
    Ray ray;
    bvh::Counts counts;
    bool found = false;
    if (start(frame, job.rays, r, ray)) {
      walk<kMethod>(view, pose, leaves, ray, counts, [&](const Hit&) { found = true; }, [&] { return found; });
    }
    job.hit[r] = found;
  }
}

template <Method kMethod>
void all_of(const RestView& view, const Pose& pose, const bvh::AllJob& job, Scratch scratch, std::int64_t begin,
            std::int64_t end) {
  const TreeView frame = frame_of(pose);
  Leaves leaves(view, pose, scratch);
  for (std::int64_t r = begin; r < end; ++r) {
    Ray ray;
    bvh::Counts counts;
    if (!start(frame, job.rays, r, ray)) continue;
    walk<kMethod>(
        view, pose, leaves, ray, counts,
        [&](const Hit& hit) { job.found(job.context, r, {hit.t, hit.u, hit.v, hit.primitive}, 0); },
        [] { return false; });
  }
}

void closest(const RestView& view, const Pose& pose, const ClosestJob& job, Scratch scratch, std::int64_t begin,
             std::int64_t end) {
  (pose.method == Method::lbs ? closest_of<Method::lbs> : closest_of<Method::dqs>)(view, pose, job, scratch, begin,
                                                                                   end);
}

void any(const RestView& view, const Pose& pose, const bvh::AnyJob& job, Scratch scratch, std::int64_t begin,
         std::int64_t end) {
  (pose.method == Method::lbs ? any_of<Method::lbs> : any_of<Method::dqs>)(view, pose, job, scratch, begin, end);
}

void all(const RestView& view, const Pose& pose, const bvh::AllJob& job, Scratch scratch, std::int64_t begin,
         std::int64_t end) {
  (pose.method == Method::lbs ? all_of<Method::lbs> : all_of<Method::dqs>)(view, pose, job, scratch, begin, end);
}

bvh::Single one(const RestView& view, const Pose& pose, Scratch scratch, const float* origin, const float* direction,
                float t_min, float t_max) {
  Best best;
  constexpr std::int32_t kNone = -1;
  const Rays rays{origin, direction, {&t_min, 0}, {&t_max, 0}, {&kNone, 0}, false, false};
  const ClosestJob job{rays, &best.hit.t, &best.hit.primitive, &best.hit.u, &best.hit.v, nullptr, nullptr, nullptr};
  closest(view, pose, job, scratch, 0, 1);
  return {best.hit.t, best.hit.u, best.hit.v, best.hit.primitive};
}

template <Method kMethod>
Survey survey_of(const RestView& view, const Pose& pose) {
  Survey all{0, 0};
  for (std::int64_t n = 0; n < view.node_count; ++n) {
    for (int i = 0; i < kWidth; ++i) {
      if (view.nodes[n].child[i] == bvh::kEmpty) continue;
      const Box box = bound_lane<kMethod>(view, pose, view.lanes[n * kWidth + i]);
      ++all.lanes;
      all.unbounded += !(box.high[0] - box.low[0] < kInfinity);
    }
  }
  return all;
}

Survey survey(const RestView& view, const Pose& pose) {
  return pose.method == Method::lbs ? survey_of<Method::lbs>(view, pose) : survey_of<Method::dqs>(view, pose);
}

DeformJob job_of(const RestView& view, Method method) {
  DeformJob job{};
  job.method = method;
  job.frames = 1;
  job.joints = view.joints;
  return job;
}

std::int64_t packed_floats(const RestView& view, Method method) {
  return skinning::batch_floats(job_of(view, method), false);
}

// Fills columns, packed, slack, centre, reach and root.
void prepare(const RestView& view, Pose& pose) {
  DeformJob job = job_of(view, pose.method);
  job.palette = pose.palette;
  job.packed = pose.packed;
  skinning::pack_batch(job, skinning::batch(job, 0));

  Quad large{};  // how far any joint takes anything, |t| + Σ |R| · extent
  for (std::int64_t slot = 0; slot <= view.joints; ++slot) {
    Quad rows[3] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
    if (slot > 0) __builtin_memcpy(rows, pose.palette + 12 * (slot - 1), sizeof rows);
    const Quad a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
    const Quad b = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
    const Quad zero{}, c = __builtin_shufflevector(rows[2], zero, 0, 4, 1, 5);
    const Quad d = __builtin_shufflevector(rows[2], zero, 2, 6, 3, 7);
    const Quad columns[4] = {__builtin_shufflevector(a, c, 0, 1, 4, 5), __builtin_shufflevector(a, c, 2, 3, 6, 7),
                             __builtin_shufflevector(b, d, 0, 1, 4, 5), __builtin_shufflevector(b, d, 2, 3, 6, 7)};
    auto* const to = reinterpret_cast<Quad*>(pose.columns + 32 * slot);
    Quad reach{};
    for (int k = 0; k < 4; ++k) {
      const Quad size = absolute(columns[k]);
      to[2 * k] = columns[k];
      to[2 * k + 1] = k < 3 ? size : size * view.rounding;
      reach += k < 3 ? size * pose.extent : size;
    }
    large = reach > large ? reach : large;
  }
  const float most = large[0] > large[1] ? large[0] : large[1];
  const float farthest = most > large[2] ? most : large[2];
  pose.slack = pose.method == Method::dqs ? 4e-5f * farthest : 0;
  for (float& x : pose.centre) x = 0;
  pose.reach = bvh::kLargest;
  if (view.node_count == 0) return;

  const auto bound = pose.method == Method::lbs ? bound_node<Method::lbs> : bound_node<Method::dqs>;
  bound(view, pose, 0, pose.root);
  // Rays need to know how far the vertices that exist lie from the centre.
  float low[3], high[3];
  bool bounded = true;
  for (int k = 0; k < 3; ++k) {
    low[k] = bvh::least(bvh::load(pose.root.plane[k][0]));
    high[k] = bvh::greatest(bvh::load(pose.root.plane[k][1]));
    bounded = bounded && low[k] >= -bvh::kLargest && high[k] <= bvh::kLargest;
  }
  if (bounded) {
    for (int k = 0; k < 3; ++k) pose.centre[k] = low[k] + (high[k] - low[k]) / 2;
    pose.reach = 0;
    for (int k = 0; k < 3; ++k) {
      for (int side = 0; side < 2; ++side) {
        bvh::store(pose.root.plane[k][side], bvh::load(pose.root.plane[k][side]) - pose.centre[k]);
      }
      const float below = pose.centre[k] - low[k], above = high[k] - pose.centre[k];
      pose.reach = below > pose.reach ? below : pose.reach;
      pose.reach = above > pose.reach ? above : pose.reach;
    }
  } else if (pose.method == Method::dqs) {
    // The heaviest of K joints keeps |b| above 1 / K, so translations grow K-fold at most.
    const float reach = 4 * farthest * static_cast<float>(view.most_influences + 1);
    pose.reach = reach < bvh::kLargest ? reach : bvh::kLargest;
  }
}

constexpr PosedKernels kKernels = {packed_floats, prepare, closest, any, all, one, survey};

}  // namespace
}  // namespace bunraku::BUNRAKU_LEVEL::posed

namespace bunraku::posed::BUNRAKU_LEVEL {
extern const PosedKernels posed_kernels = bunraku::BUNRAKU_LEVEL::posed::kKernels;
}  // namespace bunraku::posed::BUNRAKU_LEVEL
