#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>

#include <optional>
#include <span>
#include <string>

#include "bindings/arrays.hpp"
#include "sdef/prepare.hpp"

namespace nb = nanobind;

namespace bunraku {
namespace {

using Rest = std::optional<Array<const float, 3>>;
using Rows = Array<float, 3, false>;

void require(bool holds, const std::string& what) {
  if (!holds) throw nb::value_error(what.c_str());
}

void make_vertices(SdefVertices* self, Array<const std::int32_t, 1> spherical, Array<const std::int32_t, 2> pairs,
                   Array<const float, 2> shares, Array<const float, 3> centers, Array<const std::int32_t, 1> dual,
                   Array<const std::int32_t, 2> slots, Array<const float, 2> weights) {
  const std::size_t count = spherical.size(), width = slots.shape(1);
  require(pairs.shape(0) == count && pairs.shape(1) == 2 && shares.shape(0) == count && shares.shape(1) == 2 &&
              centers.shape(0) == count && centers.shape(1) == 3 && centers.shape(2) == 3,
          "spherical: expected (M,), (M, 2), (M, 2) and (M, 3, 3)");
  require(slots.shape(0) == dual.size() && weights.shape(0) == dual.size() && weights.shape(1) == width,
          "dual: expected (M,), (M, K) and (M, K)");
  new (self) SdefVertices;
  for (std::size_t i = 0; i < count; ++i) {
    const float* const rows = centers.data() + 9 * i;
    self->add_spherical(spherical.data()[i], {pairs.data() + 2 * i, 2}, {shares.data() + 2 * i, 2}, rows, rows + 3,
                        rows + 6);
  }
  for (std::size_t i = 0; i < dual.size(); ++i) {
    self->add_dual(dual.data()[i], {slots.data() + width * i, width}, {weights.data() + width * i, width});
  }
}

RestRows rest_rows(const Rest& rows, std::int64_t frames, std::int64_t count, std::int64_t width) {
  if (!rows) return {nullptr, 0};
  const auto given = static_cast<std::int64_t>(rows->shape(0));
  require((given == 1 || given == frames) && static_cast<std::int64_t>(rows->shape(1)) == count &&
              static_cast<std::int64_t>(rows->shape(2)) == width,
          "rest: expected (1 or F, M, " + std::to_string(width) + ")");
  return {rows->data(), given == 1 ? 0 : count * width};
}

BentRows bent_rows(const std::optional<Rows>& rows, std::int64_t frames, std::int64_t vertices, std::int64_t width) {
  if (!rows) return {nullptr, 0};
  require(static_cast<std::int64_t>(rows->shape(0)) == frames && static_cast<std::int64_t>(rows->shape(1)) == vertices &&
              static_cast<std::int64_t>(rows->shape(2)) == width &&
              (rows->size() == 0 || (rows->stride(2) == 1 && (vertices <= 1 || rows->stride(1) == width))),
          "out: expected (F, V, " + std::to_string(width) + "), contiguous within a frame");
  return {rows->data(), rows->stride(0)};
}

void bend_into(const SdefVertices& self, Array<const float, 4> palette, Array<const float, 3> positions, Rest normals, Rest tangents,
               Rows out_positions, std::optional<Rows> out_normals, std::optional<Rows> out_tangents) {
  SdefJob job{};
  job.vertices = self.view();
  job.frames = static_cast<std::int64_t>(palette.shape(0));
  job.palette_joints = static_cast<std::int64_t>(palette.shape(1));
  job.palette = palette.data();
  require(palette.shape(2) == 3 && palette.shape(3) == 4, "palette: expected (F, J, 3, 4)");
  require(job.palette_joints >= self.palette_joints, "palette: too few joints");
  const auto count = static_cast<std::int64_t>(self.indices.size());
  const auto vertices = static_cast<std::int64_t>(out_positions.shape(1));
  for (const std::int32_t index : self.indices) require(index >= 0 && index < vertices, "vertices: out of range");
  require(normals.has_value() == out_normals.has_value() && tangents.has_value() == out_tangents.has_value(),
          "normals, tangents: expected in and out together");
  job.positions = rest_rows(positions, job.frames, count, 3);
  job.normals = rest_rows(normals, job.frames, count, 3);
  job.tangents = rest_rows(tangents, job.frames, count, 4);
  job.out_positions = bent_rows(out_positions, job.frames, vertices, 3);
  job.out_normals = bent_rows(out_normals, job.frames, vertices, 3);
  job.out_tangents = bent_rows(out_tangents, job.frames, vertices, 4);
  const nb::gil_scoped_release released;
  bend(job);
}

}  // namespace

void bind_sdef(nb::module_& m) {
  nb::class_<SdefVertices>(m, "Vertices", "Vertices of one geometry that bend MMD's way.")
      .def("__init__", &make_vertices, nb::arg("spherical").noconvert(), nb::arg("pairs").noconvert(),
           nb::arg("shares").noconvert(), nb::arg("centers").noconvert(), nb::arg("dual").noconvert(),
           nb::arg("slots").noconvert(), nb::arg("weights").noconvert());
  m.def("bend_into", &bend_into, nb::arg("vertices"), nb::arg("palette").noconvert(), nb::arg("positions").noconvert(),
        nb::arg("normals").noconvert().none(), nb::arg("tangents").noconvert().none(),
        nb::arg("out_positions").noconvert(), nb::arg("out_normals").noconvert().none(),
        nb::arg("out_tangents").noconvert().none(),
        "Overwrite these vertices in arrays (frames, vertices, 3 or 4).");
}

}  // namespace bunraku
