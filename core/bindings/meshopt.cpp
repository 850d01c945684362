#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string_view.h>

#include "bindings/arrays.hpp"
#include "meshopt/meshopt.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bunraku {
namespace {

using BytesIn = Array<const std::uint8_t, 1>;
using BytesInOut = Array<std::uint8_t, 1>;
using BytesOut = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

template <meshopt::Decoded (*Decode)(meshopt::Stream, std::int64_t, std::int64_t)>
BytesOut decode(BytesIn data, std::int64_t count, std::int64_t size) {
  meshopt::Decoded decoded;
  {
    nb::gil_scoped_release release;
    decoded = Decode({data.data(), data.size()}, count, size);
  }
  const std::size_t length = decoded.size;
  std::uint8_t* bytes = decoded.bytes.get();
  nb::capsule owner(bytes, [](void* p) noexcept { delete[] static_cast<std::uint8_t*>(p); });
  decoded.bytes.release();
  return BytesOut(bytes, {length}, owner);
}

void apply_filter(BytesInOut data, std::int64_t count, std::int64_t stride, std::string_view name) {
  nb::gil_scoped_release release;
  meshopt::apply_filter({data.data(), data.size()}, count, stride, name);
}

}  // namespace

void bind_meshopt(nb::module_& m) {
  m.def("decode_vertex", &decode<meshopt::decode_vertex>, "data"_a.noconvert(), "count"_a, "stride"_a,
        "Decode mode ATTRIBUTES (codec versions 0 and 1) into count * stride bytes.");
  m.def("decode_triangles", &decode<meshopt::decode_triangles>, "data"_a.noconvert(), "count"_a, "index_size"_a,
        "Decode mode TRIANGLES into count indices of 2 or 4 bytes.");
  m.def("decode_indices", &decode<meshopt::decode_indices>, "data"_a.noconvert(), "count"_a, "index_size"_a,
        "Decode mode INDICES into count indices of 2 or 4 bytes.");
  m.def("apply_filter", &apply_filter, "data"_a.noconvert(), "count"_a, "stride"_a, "name"_a,
        "Apply OCTAHEDRAL, QUATERNION, EXPONENTIAL or COLOR to decoded attributes, in place.");
}

}  // namespace bunraku
