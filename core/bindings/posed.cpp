#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/rays.hpp"
#include "posed/prepare.hpp"

namespace bunraku {
namespace {

using posed::Posed;
using posed::RestTree;

using Target = std::tuple<In<std::int32_t, 1>, std::optional<In<float, 2>>>;
using Weights = std::optional<In<float, 1>>;

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
  return columns(std::move(hits));
}

}  // namespace

void bind_posed(nb::module_& m) {
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

  define_batch(pose, "closest", &closest, nb::arg("t").noconvert(), nb::arg("primitive").noconvert(), nb::arg("u").noconvert(),
        nb::arg("v").noconvert(), nb::arg("normal").noconvert().none(), nb::arg("boxes").noconvert().none(),
        nb::arg("triangles").noconvert().none());
  define_batch(pose, "any", &any, nb::arg("hit").noconvert());
  define_batch(pose, "all", &all);
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
