#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "posed/prepare.hpp"

namespace nb = nanobind;

namespace bunraku {
namespace {

using posed::Posed;
using posed::RestTree;

template <typename T, std::size_t kDimensions>
using In = nb::ndarray<const T, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;
template <typename T, std::size_t kDimensions>
using Out = nb::ndarray<T, nb::ndim<kDimensions>, nb::c_contig, nb::device::cpu>;
template <typename T>
using Made = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
using Target = std::tuple<In<std::int32_t, 1>, std::optional<In<float, 2>>>;
using Weights = std::optional<In<float, 1>>;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

void require(bool condition, const std::string& what) {
  if (!condition) throw nb::value_error(what.c_str());
}

template <typename A>
auto* rows(const A& array, std::size_t count, std::size_t width, const char* name) {
  bool fits = array.shape(0) == count;
  if constexpr (requires { array.shape(1); }) fits = fits && (width == 1 || array.shape(1) == width);
  require(fits, std::string(name) + ": expected " + std::to_string(count) + " rows of " + std::to_string(width));
  return array.data();
}

template <typename T>
bvh::PerRay<T> per_ray(const In<T, 1>& values, std::size_t count, const char* name) {
  require(values.shape(0) == 1 || values.shape(0) == count,
          std::string(name) + ": expected 1 or " + std::to_string(count) + " values");
  return {values.data(), values.shape(0) == 1 ? 0 : 1};
}

template <typename T>
Made<T> made(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return Made<T>(kept->data(), {kept->size()}, owner);
}

struct RayArrays {
  In<float, 2> origins, directions;
  In<float, 1> t_min, t_max;
  In<std::int32_t, 1> skip;

  std::size_t count() const { return origins.shape(0); }
  bvh::Rays rays(bool front_only) const {
    const std::size_t n = count();
    return {rows(origins, n, 3, "origins"), rows(directions, n, 3, "directions"), per_ray(t_min, n, "t_min"),
            per_ray(t_max, n, "t_max"),     per_ray(skip, n, "skip"),             front_only,
            false};
  }
};

Method method_named(const std::string& name) {
  if (name == "lbs") return Method::lbs;
  if (name == "dqs") return Method::dqs;
  throw nb::value_error(("method: expected lbs or dqs, found " + name).c_str());
}

// A pose that has looked at its arrays; they must outlive it.
Posed pose_of(const RestTree& tree, const In<float, 3>& palette, const std::string& method, const Weights& weights) {
  const auto joints = static_cast<std::int64_t>(palette.shape(0));
  require(palette.shape(1) == 3 && palette.shape(2) == 4, "palette: expected (joints, 3, 4)");
  require(joints >= tree.view().joints, "palette: expected at least " + std::to_string(tree.view().joints) +
                                            " joints, found " + std::to_string(joints));
  require(all_finite({palette.data(), palette.size()}), "palette: expected finite numbers");
  const float* morphs = weights ? rows(*weights, tree.targets(), 1, "morph_weights") : nullptr;
  require(morphs == nullptr || all_finite({morphs, tree.targets()}), "morph_weights: expected finite numbers");
  return Posed(tree, palette.data(), method_named(method), morphs);
}

void closest(const Posed& pose, In<float, 2> origins, In<float, 2> directions, In<float, 1> t_min, In<float, 1> t_max,
             In<std::int32_t, 1> skip, bool front_only, Out<float, 1> t, Out<std::int32_t, 1> primitive,
             Out<float, 1> u, Out<float, 1> v, std::optional<Out<float, 2>> normal,
             std::optional<Out<std::int32_t, 1>> boxes, std::optional<Out<std::int32_t, 1>> triangles) {
  const RayArrays given{origins, directions, t_min, t_max, skip};
  const std::size_t n = given.count();
  require(boxes.has_value() == triangles.has_value(), "boxes, triangles: expected together");
  const bvh::ClosestJob job{given.rays(front_only),
                            rows(t, n, 1, "t"),
                            rows(primitive, n, 1, "primitive"),
                            rows(u, n, 1, "u"),
                            rows(v, n, 1, "v"),
                            normal ? rows(*normal, n, 3, "normal") : nullptr,
                            boxes ? rows(*boxes, n, 1, "boxes") : nullptr,
                            triangles ? rows(*triangles, n, 1, "triangles") : nullptr};
  const nb::gil_scoped_release released;
  pose.closest(job, static_cast<std::int64_t>(n));
}

void any(const Posed& pose, In<float, 2> origins, In<float, 2> directions, In<float, 1> t_min, In<float, 1> t_max,
         In<std::int32_t, 1> skip, bool front_only, Out<bool, 1> hit) {
  const RayArrays given{origins, directions, t_min, t_max, skip};
  const std::size_t n = given.count();
  const bvh::AnyJob job{given.rays(front_only), rows(hit, n, 1, "hit")};
  const nb::gil_scoped_release released;
  pose.any(job, static_cast<std::int64_t>(n));
}

nb::tuple all(const Posed& pose, In<float, 2> origins, In<float, 2> directions, In<float, 1> t_min, In<float, 1> t_max,
              In<std::int32_t, 1> skip, bool front_only) {
  const RayArrays given{origins, directions, t_min, t_max, skip};
  const bvh::Rays rays = given.rays(front_only);
  bvh::AllHits hits;
  {
    const nb::gil_scoped_release released;
    hits = pose.all(rays, static_cast<std::int64_t>(given.count()));
  }
  return nb::make_tuple(made(std::move(hits.first)), made(std::move(hits.t)), made(std::move(hits.primitive)),
                        made(std::move(hits.u)), made(std::move(hits.v)));
}

nb::object answer(const bvh::Single& hit) {
  if (hit.primitive < 0) return nb::none();
  return nb::make_tuple(hit.t, hit.primitive, hit.u, hit.v);
}

}  // namespace

void bind_posed(nb::module_& m) {
  const auto batch = [](auto& c, const char* name, auto function, auto... more) {
    c.def(name, function, nb::arg("origins").noconvert(), nb::arg("directions").noconvert(), nb::arg("t_min").noconvert(),
          nb::arg("t_max").noconvert(), nb::arg("skip").noconvert(), nb::arg("front_only"), more...);
  };
  nb::class_<RestTree> tree(m, "Tree", "A geometry at rest, arranged for rays in any pose.");
  nb::class_<Posed> pose(m, "Pose", "A palette, prepared for the rays of one pose.");
  tree.def("__init__",
           [](RestTree* self, const Rig& rig, In<float, 2> positions, In<std::int32_t, 2> faces,
              const std::vector<Target>& targets) {
             const float* points = rows(positions, static_cast<std::size_t>(rig.influences.vertices()), 3, "positions");
             const std::int32_t* corners = rows(faces, faces.shape(0), 3, "faces");
             std::vector<posed::Target> deltas;
             for (const auto& [vertices, by_position] : targets) {
               const float* data = by_position ? rows(*by_position, vertices.size(), 3, "morph positions") : nullptr;
               deltas.push_back({{vertices.data(), vertices.size()}, data});
             }
             const nb::gil_scoped_release released;
             new (self) RestTree(rig.influences, points, {corners, faces.size()}, deltas);
           },
           nb::arg("rig"), nb::arg("positions").noconvert(), nb::arg("faces").noconvert(), nb::arg("targets").noconvert());
  tree.def("pose", &pose_of, nb::arg("palette").noconvert(), nb::arg("method"),
           nb::arg("morph_weights").noconvert().none(), nb::keep_alive<0, 1>(), nb::keep_alive<0, 2>(),
           nb::keep_alive<0, 4>());
  tree.def("cast",
           [](const RestTree& self, In<float, 3> palette, const std::string& method, Weights weights, float ox, float oy,
              float oz, float dx, float dy, float dz, float t_min, float t_max) {
             const float origin[3] = {ox, oy, oz}, direction[3] = {dx, dy, dz};
             return answer(pose_of(self, palette, method, weights).one(origin, direction, t_min, t_max));
           },
           nb::arg("palette").noconvert(), nb::arg("method"), nb::arg("morph_weights").noconvert().none(), nb::arg("ox"),
           nb::arg("oy"), nb::arg("oz"), nb::arg("dx"), nb::arg("dy"), nb::arg("dz"), nb::arg("t_min") = 0.0f,
           nb::arg("t_max") = kInfinity);
  tree.def_prop_ro("triangle_count", &RestTree::triangles);
  tree.def_prop_ro("joint_count", [](const RestTree& self) { return self.view().joints; });
  tree.def_prop_ro("leaf_count", [](const RestTree& self) { return self.view().leaf_count; });
  tree.def_prop_ro("bytes", &RestTree::bytes);

  batch(pose, "closest", &closest, nb::arg("t").noconvert(), nb::arg("primitive").noconvert(), nb::arg("u").noconvert(),
        nb::arg("v").noconvert(), nb::arg("normal").noconvert().none(), nb::arg("boxes").noconvert().none(),
        nb::arg("triangles").noconvert().none());
  batch(pose, "any", &any, nb::arg("hit").noconvert());
  batch(pose, "all", &all);
  pose.def("cast",
           [](const Posed& self, float ox, float oy, float oz, float dx, float dy, float dz, float t_min, float t_max) {
             const float origin[3] = {ox, oy, oz}, direction[3] = {dx, dy, dz};
             return answer(self.one(origin, direction, t_min, t_max));
           },
           nb::arg("ox"), nb::arg("oy"), nb::arg("oz"), nb::arg("dx"), nb::arg("dy"), nb::arg("dz"),
           nb::arg("t_min") = 0.0f, nb::arg("t_max") = kInfinity);
  pose.def("survey", [](const Posed& self) {
    const posed::Survey survey = self.survey();
    return nb::make_tuple(survey.lanes, survey.unbounded);
  });
}

}  // namespace bunraku
