// Queries and refits, compiled once per instruction set.

#include "bvh/bvh.hpp"

#include "bvh/many.hpp"
#include "bvh/nearest.hpp"
#include "bvh/refit.hpp"
#include "bvh/scene.hpp"

namespace bunraku::BUNRAKU_LEVEL::bvh {
namespace {

template <typename T>
BUNRAKU_INLINE T of(const PerRay<T>& values, std::int64_t ray) {
  return values.data[ray * values.stride];
}

BUNRAKU_INLINE bool start(const TreeView& tree, const Rays& rays, std::int64_t r, Ray& ray) {
  ray.skip = of(rays.skip, r);
  if (ray.skip < 0) ray.skip = kEmpty;  // -1 marks unused lanes
  ray.front_only = rays.front_only;
  return prepare(ray, tree, rays.origins + 3 * r, rays.directions + 3 * r, of(rays.t_min, r), of(rays.t_max, r));
}

// The closer of two hits; of two as close, the one with the lower index.
BUNRAKU_INLINE void keep_closest(Ray& ray, Hit& best, const Hit& hit) {
  if (hit.t < best.t || (hit.t == best.t && hit.primitive < best.primitive)) {
    best = hit;
    ray.set_far(hit.t);
  }
}

constexpr Hit kMiss{kInfinity, 0, 0, -1, -1, 0, 0};

template <Kind kKind, bool kCounting>
BUNRAKU_INLINE Hit closest_hit(const TreeView& tree, Ray& ray, Counts& counts) {
  Hit best = kMiss;
  walk<kCounting>(tree, ray, counts, [&](std::int32_t packet) {
    visit_hits<kKind, false>(tree, packet, ray, [&](const Hit& hit) { keep_closest(ray, best, hit); });
    return false;
  });
  return best;
}

void write_normal(const TreeView& tree, const Ray& ray, const Hit& hit, float* normal) {
  double n[3] = {0, 0, 0};
  if (hit.primitive >= 0) {
    const Packet& packet = tree.packets[hit.packet];
    const auto at = [&](int row) { return static_cast<double>(packet.data[row][hit.lane]); };
    if (tree.kind == Kind::triangles) {
      double e[2][3];
      for (int k = 0; k < 3; ++k) {
        e[0][k] = at(3 + k) - at(k);
        e[1][k] = at(6 + k) - at(k);
      }
      for (int k = 0; k < 3; ++k) {
        const int l = (k + 1) % 3, m = (k + 2) % 3;
        n[k] = e[0][l] * e[1][m] - e[0][m] * e[1][l];
      }
    } else {
      double point[3], farthest = -1;
      int axis = 0;
      for (int k = 0; k < 3; ++k) {
        point[k] = ray.origin[k] + static_cast<double>(hit.t) * ray.direction[k];
        if (tree.kind == Kind::spheres) {
          n[k] = point[k] - at(k);
        } else {
          const double half = (at(3 + k) - at(k)) / 2, off = point[k] - (at(3 + k) + at(k)) / 2;
          const double share = half > 0 ? __builtin_fabs(off) / half : __builtin_inf();
          if (share > farthest) farthest = share, axis = k;
        }
      }
      if (tree.kind == Kind::boxes) n[axis] = 2 * point[axis] >= at(3 + axis) + at(axis) ? 1 : -1;
    }
  }
  const double length = __builtin_sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
  for (int k = 0; k < 3; ++k) normal[k] = length > 0 ? static_cast<float>(n[k] / length) : 0.0f;
}

BUNRAKU_INLINE void write(const TreeView& tree, const ClosestJob& job, std::int64_t r, const Ray& ray, const Hit& hit,
                          const Counts& counts) {
  job.t[r] = hit.t;
  job.primitive[r] = hit.primitive;
  job.u[r] = hit.u;
  job.v[r] = hit.v;
  if (job.normal != nullptr) write_normal(tree, ray, hit, job.normal + 3 * r);
  if (job.box_tests != nullptr) {
    job.box_tests[r] = counts.boxes;
    job.primitive_tests[r] = counts.primitives;
  }
}

template <Kind kKind>
void closest_of(const TreeView& tree, const ClosestJob& job, std::int64_t begin, std::int64_t end) {
  walk_many<true>(
      tree, job.rays.coherent, begin, end, kMiss,
      [&](Ray& ray, std::int64_t r) { return start(tree, job.rays, r, ray); },
      [&](std::int32_t packet, Ray& ray, Hit& best) {
        visit_hits<kKind, false>(tree, packet, ray, [&](const Hit& hit) { keep_closest(ray, best, hit); });
        return false;
      },
      [&](std::int64_t r, const Ray& ray, const Hit& hit) { write(tree, job, r, ray, hit, Counts()); });
}

template <Kind kKind>
void count_tests(const TreeView& tree, const ClosestJob& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    Ray ray;
    Counts counts;
    const Hit hit = start(tree, job.rays, r, ray) ? closest_hit<kKind, true>(tree, ray, counts) : kMiss;
    write(tree, job, r, ray, hit, counts);
  }
}

template <Kind kKind>
void force_of(const TreeView& tree, const ClosestJob& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    Ray ray;
    Hit best = kMiss;
    Counts counts;
    const bool real = start(tree, job.rays, r, ray);
    for (std::int64_t p = 0; real && p < tree.packet_count; ++p) {
      counts.primitives += lanes_in(tree.packets[p]);
      visit_hits<kKind, false>(tree, static_cast<std::int32_t>(p), ray,
                               [&](const Hit& hit) { keep_closest(ray, best, hit); });
    }
    write(tree, job, r, ray, best, counts);
  }
}

template <Kind kKind>
void any_of(const TreeView& tree, const AnyJob& job, std::int64_t begin, std::int64_t end) {
  walk_many<false>(
      tree, job.rays.coherent, begin, end, false,
      [&](Ray& ray, std::int64_t r) { return start(tree, job.rays, r, ray); },
      [&](std::int32_t packet, const Ray& ray, bool& found) {
        visit_hits<kKind, false>(tree, packet, ray, [&](const Hit&) { found = true; });
        return found;
      },
      [&](std::int64_t r, const Ray&, bool found) { job.hit[r] = found; });
}

template <Kind kKind>
void all_of(const TreeView& tree, const AllJob& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    Ray ray;
    Counts counts;
    if (!start(tree, job.rays, r, ray)) continue;
    walk<false>(tree, ray, counts, [&](std::int32_t packet) {
      visit_hits<kKind, false>(tree, packet, ray, [&](const Hit& hit) {
        job.found(job.context, r, {hit.t, hit.u, hit.v, hit.primitive}, 0);
      });
      return false;
    });
  }
}

template <Kind kKind, bool kWinding>
void count_of(const TreeView& tree, const CountJob& job, std::int64_t begin, std::int64_t end) {
  walk_many<false>(
      tree, job.rays.coherent, begin, end, std::int32_t{0},
      [&](Ray& ray, std::int64_t r) { return start(tree, job.rays, r, ray); },
      [&](std::int32_t packet, const Ray& ray, std::int32_t& count) {
        visit_hits<kKind, kWinding>(tree, packet, ray, [&](const Hit& hit) { count -= kWinding ? hit.facing : -1; });
        return false;
      },
      [&](std::int64_t r, const Ray&, std::int32_t count) { job.count[r] = count; });
}

#define BUNRAKU_BY_KIND(function, ...)                                       \
  switch (tree.kind) {                                                       \
    case Kind::triangles: return function<Kind::triangles, ##__VA_ARGS__>(tree, job, begin, end); \
    case Kind::boxes: return function<Kind::boxes, ##__VA_ARGS__>(tree, job, begin, end);         \
    case Kind::spheres: return function<Kind::spheres, ##__VA_ARGS__>(tree, job, begin, end);     \
  }

void closest(const TreeView& tree, const ClosestJob& job, std::int64_t begin, std::int64_t end) {
  if (job.box_tests != nullptr) {
    BUNRAKU_BY_KIND(count_tests)
  } else {
    BUNRAKU_BY_KIND(closest_of)
  }
}

void closest_by_force(const TreeView& tree, const ClosestJob& job, std::int64_t begin, std::int64_t end) {
  BUNRAKU_BY_KIND(force_of)
}

void any(const TreeView& tree, const AnyJob& job, std::int64_t begin, std::int64_t end) {
  BUNRAKU_BY_KIND(any_of)
}

void all(const TreeView& tree, const AllJob& job, std::int64_t begin, std::int64_t end) {
  BUNRAKU_BY_KIND(all_of)
}

void count(const TreeView& tree, const CountJob& job, std::int64_t begin, std::int64_t end) {
  if (job.winding) return count_of<Kind::triangles, true>(tree, job, begin, end);
  BUNRAKU_BY_KIND(count_of, false)
}

BUNRAKU_INLINE bool start_in_scene(const SceneView& scene, const Rays& rays, std::int64_t r, Ray& ray) {
  ray.skip = kEmpty;
  ray.front_only = rays.front_only;
  return prepare(ray, scene.top, rays.origins + 3 * r, rays.directions + 3 * r, of(rays.t_min, r), of(rays.t_max, r),
                 scene.widen);
}

void in_scene(const SceneView& scene, const SceneJob& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    Ray ray;
    PlacedHit best{kMiss, -1};
    if (start_in_scene(scene, job.closest.rays, r, ray)) {
      walk_scene(scene, ray, [&](const Hit& hit, std::int32_t instance) {
        const bool tied = hit.t == best.hit.t;
        if (hit.t < best.hit.t || (tied && (instance < best.instance || (instance == best.instance &&
                                                                          hit.primitive < best.hit.primitive)))) {
          best = {hit, instance};
          ray.set_far(hit.t);
        }
        return job.hit != nullptr;
      });
    }
    if (job.hit != nullptr) {
      job.hit[r] = best.instance >= 0;
      continue;
    }
    job.instance[r] = best.instance;
    if (best.instance < 0) {
      write(scene.top, job.closest, r, ray, kMiss, Counts());
      continue;
    }
    const double* inverse = scene.inverses + 12 * std::int64_t{best.instance};
    Ray inner;
    into_instance(inverse, ray.origin, 1, inner.origin);
    into_instance(inverse, ray.direction, 0, inner.direction);
    write(*scene.trees[best.instance], job.closest, r, inner, best.hit, Counts());
    if (job.closest.normal != nullptr) normal_to_world(inverse, job.closest.normal + 3 * r);
  }
}

void all_in_scene(const SceneView& scene, const AllJob& job, std::int64_t begin, std::int64_t end) {
  for (std::int64_t r = begin; r < end; ++r) {
    Ray ray;
    if (!start_in_scene(scene, job.rays, r, ray)) continue;
    walk_scene(scene, ray, [&](const Hit& hit, std::int32_t instance) {
      job.found(job.context, r, {hit.t, hit.u, hit.v, hit.primitive}, instance);
      return false;
    });
  }
}

Single one(const TreeView& tree, const float* origin, const float* direction, float t_min, float t_max) {
  Ray ray;
  Counts counts;
  Hit hit = kMiss;
  if (prepare(ray, tree, origin, direction, t_min, t_max)) {
    ray.skip = kEmpty;
    ray.front_only = false;
    switch (tree.kind) {
      case Kind::triangles: hit = closest_hit<Kind::triangles, false>(tree, ray, counts); break;
      case Kind::boxes: hit = closest_hit<Kind::boxes, false>(tree, ray, counts); break;
      case Kind::spheres: hit = closest_hit<Kind::spheres, false>(tree, ray, counts); break;
    }
  }
  return {hit.t, hit.u, hit.v, hit.primitive};
}

void refit_root(const TreeView& tree, const Source& source, std::int64_t begin, std::int64_t end) {
  if (tree.root < 0 && tree.root != kEmpty) {
    fill(tree, source, ~tree.root);
  } else {
    refit_packets(tree, source, begin, end);
  }
}

}  // namespace
}  // namespace bunraku::BUNRAKU_LEVEL::bvh

namespace bunraku::bvh::BUNRAKU_LEVEL {

namespace kernels = bunraku::BUNRAKU_LEVEL::bvh;

extern const BvhKernels bvh_kernels{
    kernels::closest, kernels::any,          kernels::all,              kernels::count, kernels::nearest,
    kernels::in_scene, kernels::all_in_scene, kernels::closest_by_force, kernels::one,   kernels::refit_root,
    kernels::refit_nodes};

}  // namespace bunraku::bvh::BUNRAKU_LEVEL
