#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "bindings/errors.hpp"
#include "bindings/rays.hpp"
#include "bvh/batch.hpp"
#include "bvh/overlap.hpp"
#include "bvh/tree.hpp"

namespace bunraku {
namespace {

using bvh::Tree;

bvh::Kind kind_named(const std::string& name) {
  if (name == "triangles") return bvh::Kind::triangles;
  if (name == "boxes") return bvh::Kind::boxes;
  if (name == "spheres") return bvh::Kind::spheres;
  throw nb::value_error(("kind: expected triangles, boxes or spheres, found " + name).c_str());
}

bvh::Source source_of(bvh::Kind kind, const In<float, 2>& points, const std::optional<In<float, 2>>& extents,
                      const std::optional<In<std::int32_t, 2>>& faces) {
  const std::size_t count = points.shape(0);
  bvh::Source source{};
  source.kind = kind;
  source.points = rows(points, count, 3, "points");
  source.point_count = static_cast<std::int64_t>(count);
  source.count = source.point_count;
  require(faces.has_value() == (kind == bvh::Kind::triangles), "faces: expected with triangles only");
  require(extents.has_value() == (kind != bvh::Kind::triangles), "extents: expected with boxes and spheres");
  if (faces) {
    source.faces = rows(*faces, faces->shape(0), 3, "faces");
    source.count = static_cast<std::int64_t>(faces->shape(0));
  } else {
    const std::size_t width = kind == bvh::Kind::boxes ? 3 : 1;
    require(extents->shape(1) == width, "extents: expected (" + std::to_string(count) + ", " + std::to_string(width) + ")");
    source.extents = rows(*extents, count, width, "extents");
  }
  return source;
}

using MaybeInts = std::optional<Out<std::int32_t, 1>>;

void closest(const Tree& tree, In<float, 2> origins, In<float, 2> directions, In<float, 1> t_min, In<float, 1> t_max,
             In<std::int32_t, 1> skip, bool front_only, bool by_force, Out<float, 1> t, Out<std::int32_t, 1> primitive,
             Out<float, 1> u, Out<float, 1> v, std::optional<Out<float, 2>> normal, MaybeInts box_tests,
             MaybeInts primitive_tests) {
  const RayArrays given{origins, directions, t_min, t_max, skip};
  const std::size_t n = given.count();
  require(box_tests.has_value() == primitive_tests.has_value(), "box_tests, primitive_tests: expected together");
  const bvh::ClosestJob job{given.rays(front_only),
                            rows(t, n, 1, "t"),
                            rows(primitive, n, 1, "primitive"),
                            rows(u, n, 1, "u"),
                            rows(v, n, 1, "v"),
                            rows(normal, n, 3, "normal"),
                            rows(box_tests, n, 1, "box_tests"),
                            rows(primitive_tests, n, 1, "primitive_tests")};
  const nb::gil_scoped_release released;
  const std::shared_lock held(tree.gate());
  bvh::run_closest(tree.view(), job, static_cast<std::int64_t>(n), by_force);
}

void any(const Tree& tree, In<float, 2> origins, In<float, 2> directions, In<float, 1> t_min, In<float, 1> t_max,
         In<std::int32_t, 1> skip, bool front_only, Out<bool, 1> hit) {
  const RayArrays given{origins, directions, t_min, t_max, skip};
  const std::size_t n = given.count();
  const bvh::AnyJob job{given.rays(front_only), rows(hit, n, 1, "hit")};
  const nb::gil_scoped_release released;
  const std::shared_lock held(tree.gate());
  bvh::run_any(tree.view(), job, static_cast<std::int64_t>(n));
}

nb::tuple all(const Tree& tree, In<float, 2> origins, In<float, 2> directions, In<float, 1> t_min, In<float, 1> t_max,
              In<std::int32_t, 1> skip, bool front_only) {
  const RayArrays given{origins, directions, t_min, t_max, skip};
  const bvh::Rays rays = given.rays(front_only);
  bvh::AllHits hits;
  {
    const nb::gil_scoped_release released;
    const std::shared_lock held(tree.gate());
    hits = bvh::run_all(tree.view(), rays, static_cast<std::int64_t>(given.count()));
  }
  return columns(std::move(hits));
}

void count(const Tree& tree, In<float, 2> origins, In<float, 2> directions, In<float, 1> t_min, In<float, 1> t_max,
           In<std::int32_t, 1> skip, bool front_only, bool winding, Out<std::int32_t, 1> counts) {
  const RayArrays given{origins, directions, t_min, t_max, skip};
  const std::size_t n = given.count();
  require(!winding || tree.view().kind == bvh::Kind::triangles, "winding: expected triangles");
  const bvh::CountJob job{given.rays(front_only), rows(counts, n, 1, "counts"), winding};
  const nb::gil_scoped_release released;
  const std::shared_lock held(tree.gate());
  bvh::run_count(tree.view(), job, static_cast<std::int64_t>(n));
}

void nearest(const Tree& tree, In<float, 2> points, In<float, 1> max_distance, Out<float, 1> distance,
             Out<std::int32_t, 1> primitive, Out<float, 2> closest_points, Out<float, 1> u, Out<float, 1> v) {
  const std::size_t n = points.shape(0);
  require(tree.view().kind == bvh::Kind::triangles, "nearest: expected triangles");
  const bvh::NearestJob job{rows(points, n, 3, "points"),
                            per_ray(max_distance, n, "max_distance"),
                            rows(distance, n, 1, "distance"),
                            rows(primitive, n, 1, "primitive"),
                            rows(closest_points, n, 3, "closest"),
                            rows(u, n, 1, "u"),
                            rows(v, n, 1, "v")};
  const nb::gil_scoped_release released;
  const std::shared_lock held(tree.gate());
  bvh::run_nearest(tree.view(), job, static_cast<std::int64_t>(n));
}

Made<std::int32_t> overlap_box(const Tree& tree, In<float, 1> low, In<float, 1> high) {
  std::vector<std::int32_t> found;
  const float *from = rows(low, 3, 1, "low"), *to = rows(high, 3, 1, "high");
  {
    const nb::gil_scoped_release released;
    const std::shared_lock held(tree.gate());
    found = bvh::overlap_box(tree.view(), from, to);
  }
  return made(std::move(found));
}

Made<std::int32_t> overlap_ball(const Tree& tree, In<float, 1> centre, float radius) {
  std::vector<std::int32_t> found;
  const float* at = rows(centre, 3, 1, "centre");
  {
    const nb::gil_scoped_release released;
    const std::shared_lock held(tree.gate());
    found = bvh::overlap_ball(tree.view(), at, radius);
  }
  return made(std::move(found));
}

// Trees placed in a scene, held still while rays ask.
struct Placed {
  const Tree& top;
  const std::vector<const Tree*>& trees;
  In<std::int32_t, 1> tree_of;
  In<double, 3> inverses;
  float widen;

  void check() const {
    const std::size_t count = tree_of.shape(0);
    require(inverses.shape(0) == count && inverses.shape(1) == 3 && inverses.shape(2) == 4,
            "inverses: expected (" + std::to_string(count) + ", 3, 4)");
    require(top.view().kind == bvh::Kind::boxes && top.primitives() == static_cast<std::int64_t>(count),
            "top: expected a box for each instance");
    for (const Tree* tree : trees) require(tree != nullptr, "trees: expected trees");
    for (std::size_t i = 0; i < count; ++i) {
      const std::int32_t index = tree_of.data()[i];
      require(index >= 0 && static_cast<std::size_t>(index) < trees.size(),
              "tree_of[" + std::to_string(i) + "]: tree " + std::to_string(index) + ", but there are " +
                  std::to_string(trees.size()));
    }
  }
  template <typename Ask>
  void ask(Ask with) const {
    std::vector<std::shared_lock<Gate>> held;
    held.emplace_back(top.gate());
    for (const Tree* tree : trees) {
      if (tree != &top) held.emplace_back(tree->gate());
    }
    std::vector<const bvh::TreeView*> views;
    for (std::size_t i = 0; i < tree_of.shape(0); ++i) {
      views.push_back(&trees[static_cast<std::size_t>(tree_of.data()[i])]->view());
    }
    with(bvh::SceneView{top.view(), views.data(), inverses.data(), widen});
  }
};

// Either `hit` or all the others.
void in_scene(const Tree& top, const std::vector<const Tree*>& trees, In<std::int32_t, 1> tree_of,
              In<double, 3> inverses, float widen, In<float, 2> origins, In<float, 2> directions, In<float, 1> t_min,
              In<float, 1> t_max, In<std::int32_t, 1> skip, bool front_only, std::optional<Out<bool, 1>> hit,
              std::optional<Out<float, 1>> t, MaybeInts instance, MaybeInts primitive, std::optional<Out<float, 1>> u,
              std::optional<Out<float, 1>> v, std::optional<Out<float, 2>> normal) {
  const RayArrays given{origins, directions, t_min, t_max, skip};
  const std::size_t n = given.count();
  const Placed placed{top, trees, tree_of, inverses, widen};
  placed.check();
  require(hit || (t && instance && primitive && u && v), "in_scene: expected hit, or t, instance, primitive, u and v");
  const bvh::ClosestJob closest_job{given.rays(front_only), rows(t, n, 1, "t"), rows(primitive, n, 1, "primitive"),
                                    rows(u, n, 1, "u"),     rows(v, n, 1, "v"), rows(normal, n, 3, "normal"),
                                    nullptr,                nullptr};
  const bvh::SceneJob job{closest_job, rows(instance, n, 1, "instance"), rows(hit, n, 1, "hit")};
  const nb::gil_scoped_release released;
  placed.ask([&](const bvh::SceneView& scene) { bvh::run_scene(scene, job, static_cast<std::int64_t>(n)); });
}

nb::object all_in_scene(const Tree& top, const std::vector<const Tree*>& trees, In<std::int32_t, 1> tree_of,
                       In<double, 3> inverses, float widen, In<float, 2> origins, In<float, 2> directions,
                       In<float, 1> t_min, In<float, 1> t_max, In<std::int32_t, 1> skip, bool front_only) {
  const RayArrays given{origins, directions, t_min, t_max, skip};
  const Placed placed{top, trees, tree_of, inverses, widen};
  placed.check();
  const bvh::Rays rays = given.rays(front_only);
  bvh::AllHits hits;
  {
    const nb::gil_scoped_release released;
    placed.ask([&](const bvh::SceneView& scene) {
      hits = bvh::run_all_in_scene(scene, rays, static_cast<std::int64_t>(given.count()));
    });
  }
  auto instances = made(std::move(hits.instance));
  return columns(std::move(hits)) + nb::make_tuple(instances);
}

// One ray, without a batch's machinery: (t, primitive, u, v), or None.
nb::object cast(const Tree& tree, const float (&origin)[3], const float (&direction)[3], float t_min, float t_max) {
  bvh::Single hit;
  {
    const std::shared_lock held(tree.gate());
    hit = bvh::cast_one(tree.view(), origin, direction, t_min, t_max);
  }
  return answer(hit);
}

// Three float32 or float64 numbers of anything with a buffer.
bool read_buffer(nb::handle array, float (&point)[3]) {
  Py_buffer view;
  if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0) {
    PyErr_Clear();
    return false;
  }
  const char type = view.format != nullptr && view.format[0] != '\0' && view.format[1] == '\0' ? view.format[0] : '?';
  const bool fits = (type == 'f' && view.len == 12) || (type == 'd' && view.len == 24);
  if (fits) {
    for (int k = 0; k < 3; ++k) {
      point[k] = type == 'f' ? static_cast<const float*>(view.buf)[k]
                             : static_cast<float>(static_cast<const double*>(view.buf)[k]);
    }
  }
  PyBuffer_Release(&view);
  return fits;
}

void read_point(nb::handle given, float (&point)[3], const char* name) {
  if (read_buffer(given, point)) return;
  const nb::object items = nb::steal(PySequence_Fast(given.ptr(), ""));
  bool fits = items.is_valid() && PySequence_Fast_GET_SIZE(items.ptr()) == 3;
  for (int k = 0; fits && k < 3; ++k) {
    const double number = PyFloat_AsDouble(PySequence_Fast_GET_ITEM(items.ptr(), k));
    fits = !(number == -1 && PyErr_Occurred() != nullptr);
    point[k] = static_cast<float>(number);
  }
  PyErr_Clear();
  if (!fits) {
    const std::string found = nb::repr(given).c_str();
    throw RigError(name + (": expected three numbers, found " + found.substr(0, 80)));
  }
}

}  // namespace

void bind_query(nb::module_& m) {
  nb::class_<Tree> tree(m, "Tree", "A bounding-volume hierarchy over triangles, boxes or spheres.");
  tree.def("__init__",
           [](Tree* self, const std::string& kind, In<float, 2> points, std::optional<In<float, 2>> extents,
              std::optional<In<std::int32_t, 2>> faces, bool median, int width, int leaf_size) {
             const bvh::Source source = source_of(kind_named(kind), points, extents, faces);
             const nb::gil_scoped_release released;
             new (self) Tree(source, {median, width, leaf_size, false});
           },
           nb::arg("kind"), nb::arg("points").noconvert(), nb::arg("extents").noconvert().none(),
           nb::arg("faces").noconvert().none(), nb::arg("median"), nb::arg("width"), nb::arg("leaf_size"));
  tree.def("refit",
           [](Tree& self, In<float, 2> points, std::optional<In<float, 2>> extents,
              std::optional<In<std::int32_t, 2>> faces) {
             bvh::Source source{};
             source.kind = self.view().kind;
             source.points = rows(points, points.shape(0), 3, "points");
             source.point_count = static_cast<std::int64_t>(points.shape(0));
             source.count = source.kind == bvh::Kind::triangles ? self.primitives() : source.point_count;
             require(extents.has_value() == (source.kind != bvh::Kind::triangles), "extents: expected with boxes and spheres");
             const std::size_t width = source.kind == bvh::Kind::boxes ? 3 : 1;
             require(!extents || extents->shape(1) == width, "extents: expected " + std::to_string(width) + " columns");
             source.extents = rows(extents, points.shape(0), width, "extents");
             source.faces = rows(faces, static_cast<std::size_t>(source.count), 3, "faces");
             const nb::gil_scoped_release released;
             const std::unique_lock held(self.gate());
             self.refit(source);
           },
           nb::arg("points").noconvert(), nb::arg("extents").noconvert().none(),
           nb::arg("faces").noconvert().none());
  define_batch(tree, "closest", &closest, nb::arg("by_force"), nb::arg("t").noconvert(), nb::arg("primitive").noconvert(),
        nb::arg("u").noconvert(), nb::arg("v").noconvert(), nb::arg("normal").noconvert().none(),
        nb::arg("box_tests").noconvert().none(), nb::arg("primitive_tests").noconvert().none());
  define_batch(tree, "any", &any, nb::arg("hit").noconvert());
  define_batch(tree, "all", &all);
  define_batch(tree, "count", &count, nb::arg("winding"), nb::arg("counts").noconvert());
  tree.def("nearest", &nearest, nb::arg("points").noconvert(), nb::arg("max_distance").noconvert(),
           nb::arg("distance").noconvert(), nb::arg("primitive").noconvert(), nb::arg("closest").noconvert(),
           nb::arg("u").noconvert(), nb::arg("v").noconvert());
  tree.def("overlap_box", &overlap_box, nb::arg("low").noconvert(), nb::arg("high").noconvert());
  tree.def("overlap_ball", &overlap_ball, nb::arg("centre").noconvert(), nb::arg("radius"));
  tree.def("cast",
           [](const Tree& self, float ox, float oy, float oz, float dx, float dy, float dz, float t_min, float t_max) {
             return cast(self, {ox, oy, oz}, {dx, dy, dz}, t_min, t_max);
           },
           nb::arg("ox"), nb::arg("oy"), nb::arg("oz"), nb::arg("dx"), nb::arg("dy"), nb::arg("dz"),
           nb::arg("t_min") = 0.0f, nb::arg("t_max") = kInfinity);
  tree.def("cast",
           [](const Tree& self, nb::handle origin, nb::handle direction, float t_min, float t_max) {
             float o[3], d[3];
             read_point(origin, o, "origin");
             read_point(direction, d, "direction");
             return cast(self, o, d, t_min, t_max);
           },
           nb::arg("origin").none(), nb::arg("direction").none(), nb::arg("t_min") = 0.0f, nb::arg("t_max") = kInfinity);
  m.def("in_scene", &in_scene, nb::arg("top"), nb::arg("trees"), nb::arg("tree_of").noconvert(),
        nb::arg("inverses").noconvert(), nb::arg("widen"), nb::arg("origins").noconvert(),
        nb::arg("directions").noconvert(), nb::arg("t_min").noconvert(), nb::arg("t_max").noconvert(),
        nb::arg("skip").noconvert(), nb::arg("front_only"), nb::arg("hit").noconvert().none(),
        nb::arg("t").noconvert().none(), nb::arg("instance").noconvert().none(),
        nb::arg("primitive").noconvert().none(), nb::arg("u").noconvert().none(), nb::arg("v").noconvert().none(),
        nb::arg("normal").noconvert().none());
  m.def("all_in_scene", &all_in_scene, nb::arg("top"), nb::arg("trees"), nb::arg("tree_of").noconvert(),
        nb::arg("inverses").noconvert(), nb::arg("widen"), nb::arg("origins").noconvert(),
        nb::arg("directions").noconvert(), nb::arg("t_min").noconvert(), nb::arg("t_max").noconvert(),
        nb::arg("skip").noconvert(), nb::arg("front_only"));
  tree.def_prop_ro("primitive_count", &Tree::primitives);
  tree.def_prop_ro("node_count", [](const Tree& self) { return self.view().node_count; });
  tree.def_prop_ro("packet_count", [](const Tree& self) { return self.view().packet_count; });
  tree.def_prop_ro("depth", &Tree::depth);
  tree.def_prop_ro("bytes", &Tree::bytes);
  tree.def_prop_ro("built_cost", &Tree::built_cost);
  const auto guarded = [](auto read) {
    return [read](const Tree& self) {
      const nb::gil_scoped_release released;
      const std::shared_lock held(self.gate());
      return read(self);
    };
  };
  tree.def_prop_ro("cost", guarded([](const Tree& self) { return self.cost(); }));
  tree.def_prop_ro("bounds", [guarded](const Tree& self) {
    const bvh::TreeView view = guarded([](const Tree& one) { return one.view(); })(self);
    return nb::make_tuple(nb::make_tuple(view.low[0], view.low[1], view.low[2]),
                          nb::make_tuple(view.high[0], view.high[1], view.high[2]));
  });
}

}  // namespace bunraku
