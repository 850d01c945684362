#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <concepts>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "bindings/arrays.hpp"
#include "skinning/prepare.hpp"

namespace nb = nanobind;

namespace bunraku {
namespace {

using Floats = Array<const float, 2>;
using OptionalFloats = std::optional<Floats>;
using Rows = Array<float, 3, false>;
using Target = std::tuple<Array<const std::int32_t, 1>, OptionalFloats, OptionalFloats, OptionalFloats>;

template <typename A>
auto span(const A& array) {
  return std::span(array.data(), array.size());
}

void require(bool condition, const char* what) {
  if (!condition) throw nb::value_error(what);
}

// For messages that take longer to put together than all else a small call has to do.
template <std::invocable What>
void require(bool condition, What what) {
  if (!condition) throw nb::value_error(what().c_str());
}

const float* rows_of(const OptionalFloats& array, std::int64_t count, std::int64_t width,
                     const char* name) {
  if (!array) return nullptr;
  require(static_cast<std::int64_t>(array->shape(0)) == count &&
              static_cast<std::int64_t>(array->shape(1)) == width,
          [&] { return name + (": expected (" + std::to_string(count)) + ", " + std::to_string(width) + ")"; });
  return array->data();
}

FrameRows frame_rows(const std::optional<Rows>& rows, const DeformJob& job, std::int64_t width,
                     const char* name) {
  if (!rows) return {};
  const bool fits = static_cast<std::int64_t>(rows->shape(0)) == job.frames &&
                    static_cast<std::int64_t>(rows->shape(1)) == job.vertices &&
                    static_cast<std::int64_t>(rows->shape(2)) == width;
  // The strides of an array without elements mean nothing.
  const bool packed = rows->size() == 0 || (rows->stride(2) == 1 &&
                                            (job.vertices <= 1 || rows->stride(1) == width));
  require(fits && packed, [&] {
    return name + (": expected (frames, vertices, " + std::to_string(width)) + "), contiguous within a frame";
  });
  return {rows->data(), rows->stride(0)};
}

Method method_named(const std::string& name) {
  if (name == "lbs") return Method::lbs;
  if (name == "dqs") return Method::dqs;
  throw nb::value_error(("method: expected lbs or dqs, found " + name).c_str());
}

void deform_into(const Rig& rig, Array<const float, 4> palette, const std::string& method,
                 Floats positions, OptionalFloats normals, OptionalFloats tangents,
                 std::optional<Array<const float, 1>> mix, const std::vector<Target>& targets,
                 OptionalFloats morph_weights, Rows out_positions,
                 std::optional<Rows> out_normals, std::optional<Rows> out_tangents) {
  DeformJob job{};
  job.method = method_named(method);
  job.frames = static_cast<std::int64_t>(palette.shape(0));
  job.joints = static_cast<std::int64_t>(palette.shape(1));
  job.vertices = rig.influences.vertices();
  job.palette = palette.data();
  job.influences = rig.influences.view();
  job.panels = rig.panels.view();
  require(palette.shape(2) == 3 && palette.shape(3) == 4, "palette: expected (frames, joints, 3, 4)");
  require(job.joints >= rig.influences.joints, [&] {
    return "palette: the rig refers to joint " + std::to_string(rig.influences.joints - 1) + ", but there are " +
           std::to_string(job.joints);
  });
  require(all_finite(span(palette)), "palette: expected finite numbers");
  job.positions = rows_of(positions, job.vertices, 3, "positions");
  job.normals = rows_of(normals, job.vertices, 3, "normals");
  job.tangents = rows_of(tangents, job.vertices, 4, "tangents");
  require(normals.has_value() == out_normals.has_value(), "normals: expected in and out together");
  require(tangents.has_value() == out_tangents.has_value(), "tangents: expected in and out together");
  job.out_positions = frame_rows(out_positions, job, 3, "out_positions");
  job.out_normals = frame_rows(out_normals, job, 3, "out_normals");
  job.out_tangents = frame_rows(out_tangents, job, 4, "out_tangents");
  if (mix) {
    require(job.method == Method::dqs, "mix: expected with method dqs");
    require(static_cast<std::int64_t>(mix->size()) == job.vertices, "mix: expected (vertices,)");
    job.method = Method::mixed;
    job.mix = mix->data();
  }

  std::vector<MorphDeltas> deltas;
  for (const auto& [vertices, by_position, by_normal, by_tangent] : targets) {
    const auto count = static_cast<std::int64_t>(vertices.size());
    deltas.push_back({span(vertices), rows_of(by_position, count, 3, "morph positions"),
                      rows_of(by_normal, count, 3, "morph normals"),
                      rows_of(by_tangent, count, 3, "morph tangents")});
  }
  const auto active = static_cast<std::int64_t>(deltas.size());
  require(active == 0 || morph_weights.has_value(), "morph_weights: expected with morph targets");
  job.morph_weights = active == 0 ? nullptr : rows_of(morph_weights, job.frames, active, "morph_weights");

  const nb::gil_scoped_release release;
  const ActiveMorphs morphs(deltas, active == 0 ? 0 : job.vertices);
  job.morphs = morphs.view();
  deform(job);
}

}  // namespace

void bind_skinning(nb::module_& m) {
  nb::class_<Rig>(m, "Rig", "Influences of one geometry, arranged for the kernels.")
      .def("__init__",
           [](Rig* self, Array<const std::int32_t, 2> joints, Floats weights) {
             require(joints.shape(0) == weights.shape(0) && joints.shape(1) == weights.shape(1),
                     "joints and weights: expected the same shape");
             new (self) Rig(Influences(span(joints), span(weights),
                                       static_cast<std::int64_t>(joints.shape(0)),
                                       static_cast<std::int64_t>(joints.shape(1))));
           },
           nb::arg("joints").noconvert(), nb::arg("weights").noconvert())
      .def_prop_ro("vertex_count", [](const Rig& self) { return self.influences.vertices(); })
      .def_prop_ro("joint_count", [](const Rig& self) { return self.influences.joints; });

  m.def("deform_into", &deform_into, nb::arg("rig"), nb::arg("palette").noconvert(),
        nb::arg("method"), nb::arg("positions").noconvert(), nb::arg("normals").noconvert().none(),
        nb::arg("tangents").noconvert().none(), nb::arg("mix").noconvert().none(),
        nb::arg("targets").noconvert(), nb::arg("morph_weights").noconvert().none(),
        nb::arg("out_positions").noconvert(), nb::arg("out_normals").noconvert().none(),
        nb::arg("out_tangents").noconvert().none(),
        "Deform into given arrays (frames, vertices, 3 or 4); frames may lie any stride apart.");
}

}  // namespace bunraku
