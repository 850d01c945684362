#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "pmx/pmx.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bunraku {
namespace {

using BytesIn = Array<const std::uint8_t, 1>;

pmx::Bytes view(const BytesIn& data) { return {data.data(), data.size()}; }

// The numbers as an array that owns them, of rows of `width`, or of no rows.
template <class T>
nb::object owned(std::vector<T>&& numbers, std::size_t width = 0) {
  auto* kept = new std::vector<T>(std::move(numbers));
  nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  const std::size_t size = kept->size();
  if (width == 0) return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {size}, owner));
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(kept->data(), {size / width, width}, owner));
}

nb::dict scan(BytesIn data, std::int64_t start, std::int64_t additional_uvs, const Array<const std::int64_t, 1>& sizes,
              bool soft_bodies) {
  if (sizes.size() != 6) throw nb::value_error("sizes: expected six");
  const std::int64_t* s = sizes.data();
  pmx::Scan found;
  {
    nb::gil_scoped_release release;
    found = pmx::scan(view(data), start, additional_uvs, {s[0], s[1], s[2], s[3], s[4], s[5]}, soft_bodies);
  }
  nb::dict out;
  out["starts"] = owned(std::vector<std::int64_t>(found.starts.begin(), found.starts.end()));
  out["vertices"] = owned(std::vector<std::int64_t>{found.vertex_count, found.sdef_count});
  for (const auto& [name, marks] :
       {std::pair{"textures", &found.textures}, {"materials", &found.materials}, {"bones", &found.bones},
        {"links", &found.links}, {"morphs", &found.morphs}, {"frames", &found.frames}, {"elements", &found.elements},
        {"bodies", &found.bodies}, {"joints", &found.joints}, {"soft_bodies", &found.soft_bodies}}) {
    out[name] = owned(std::move(marks->at), marks->width);
  }
  return out;
}

// Checks that all arrays are of as many vertices.
template <class Byte, class Index, class Float>
pmx::Vertices<Byte, Index, Float> vertices(const Array<Float, 2>& positions, const Array<Float, 2>& normals,
                                           const Array<Float, 2>& uvs, const Array<Float, 3>& additional_uvs,
                                           const Array<Byte, 1>& deform, const Array<Index, 2>& bones,
                                           const Array<Float, 2>& weights, const Array<Float, 3>& sdef,
                                           const Array<Float, 1>& edge_scales) {
  const std::size_t count = deform.shape(0);
  const auto require = [count](const auto& array, std::size_t width, const char* name) {
    if (array.shape(0) != count || array.shape(1) != width) {
      throw nb::value_error((std::string(name) + ": expected (" + std::to_string(count) + ", " +
                             std::to_string(width) + ")").c_str());
    }
  };
  require(positions, 3, "positions");
  require(normals, 3, "normals");
  require(uvs, 2, "uvs");
  require(additional_uvs, additional_uvs.shape(1), "additional_uvs");
  require(bones, 4, "bones");
  require(weights, 4, "weights");
  if (additional_uvs.shape(2) != 4 || sdef.shape(1) != 3 || sdef.shape(2) != 3 || edge_scales.shape(0) != count) {
    throw nb::value_error("expected additional_uvs (n, k, 4), sdef (s, 3, 3) and edge_scales (n)");
  }
  return {count,
          additional_uvs.shape(1),
          sdef.shape(0),
          positions.data(),
          normals.data(),
          uvs.data(),
          additional_uvs.data(),
          deform.data(),
          bones.data(),
          weights.data(),
          sdef.data(),
          edge_scales.data()};
}


void read_vertices(BytesIn data, std::int64_t start, std::int64_t bone_size, Array<float, 2> positions,
                   Array<float, 2> normals, Array<float, 2> uvs, Array<float, 3> additional_uvs,
                   Array<std::uint8_t, 1> deform, Array<std::int32_t, 2> bones, Array<float, 2> weights,
                   Array<float, 3> sdef, Array<float, 1> edge_scales) {
  const pmx::VerticesOut out =
      vertices(positions, normals, uvs, additional_uvs, deform, bones, weights, sdef, edge_scales);
  nb::gil_scoped_release release;
  pmx::read_vertices(view(data), start, bone_size, out);
}

nb::object write_vertices(std::int64_t bone_size, Array<const float, 2> positions, Array<const float, 2> normals,
                          Array<const float, 2> uvs, Array<const float, 3> additional_uvs,
                          Array<const std::uint8_t, 1> deform, Array<const std::int32_t, 2> bones,
                          Array<const float, 2> weights, Array<const float, 3> sdef,
                          Array<const float, 1> edge_scales) {
  const pmx::VerticesIn in =
      vertices(positions, normals, uvs, additional_uvs, deform, bones, weights, sdef, edge_scales);
  std::vector<std::uint8_t> bytes;
  {
    nb::gil_scoped_release release;
    bytes = pmx::write_vertices(in, bone_size);
  }
  return owned(std::move(bytes));
}

}  // namespace

void bind_pmx(nb::module_& m) {
  m.def("scan", &scan, "data"_a.noconvert(), "start"_a, "additional_uvs"_a, "sizes"_a.noconvert(), "soft_bodies"_a,
        "Where the records of all lists are: offsets by list, as in core/pmx/pmx.hpp.");
  m.def("read_vertices", &read_vertices, "data"_a.noconvert(), "start"_a, "bone_size"_a, "positions"_a.noconvert(),
        "normals"_a.noconvert(), "uvs"_a.noconvert(), "additional_uvs"_a.noconvert(), "deform"_a.noconvert(),
        "bones"_a.noconvert(), "weights"_a.noconvert(), "sdef"_a.noconvert(), "edge_scales"_a.noconvert(),
        "Fill the arrays from the records at start.");
  m.def("write_vertices", &write_vertices, "bone_size"_a, "positions"_a.noconvert(), "normals"_a.noconvert(),
        "uvs"_a.noconvert(), "additional_uvs"_a.noconvert(), "deform"_a.noconvert(), "bones"_a.noconvert(),
        "weights"_a.noconvert(), "sdef"_a.noconvert(), "edge_scales"_a.noconvert(), "The records of the vertices.");
}

}  // namespace bunraku
