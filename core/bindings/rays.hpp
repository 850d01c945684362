#pragma once
// What the bindings of trees have in common: arrays of rays in, arrays of hits out.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "bvh/batch.hpp"

namespace bunraku {

namespace nb = nanobind;

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <typename T, std::size_t kDimensions>
using In = Array<const T, kDimensions>;
template <typename T, std::size_t kDimensions>
using Out = Array<T, kDimensions>;
template <typename T>
using Made = nb::ndarray<nb::numpy, T, nb::ndim<1>>;

inline void require(bool condition, const std::string& what) {
  if (!condition) throw nb::value_error(what.c_str());
}

template <typename T, std::size_t kDimensions>
T* rows(const Array<T, kDimensions>& array, std::size_t count, std::size_t width, const char* name) {
  bool fits = array.shape(0) == count;
  if constexpr (kDimensions > 1) fits = fits && (width == 1 || array.shape(1) == width);
  require(fits, std::string(name) + ": expected (" + std::to_string(count) +
                    (width > 1 ? ", " + std::to_string(width) + ")" : ",)"));
  return array.data();
}

template <typename T, std::size_t kDimensions>
T* rows(const std::optional<Array<T, kDimensions>>& array, std::size_t count, std::size_t width, const char* name) {
  return array ? rows(*array, count, width, name) : nullptr;
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

// Defines a method that takes rays, and then `more`.
template <typename Class, typename Function, typename... More>
void define_batch(Class& on, const char* name, Function function, More... more) {
  on.def(name, function, nb::arg("origins").noconvert(), nb::arg("directions").noconvert(), nb::arg("t_min").noconvert(),
         nb::arg("t_max").noconvert(), nb::arg("skip").noconvert(), nb::arg("front_only"), more...);
}

inline nb::tuple columns(bvh::AllHits hits) {
  return nb::make_tuple(made(std::move(hits.first)), made(std::move(hits.t)), made(std::move(hits.primitive)),
                        made(std::move(hits.u)), made(std::move(hits.v)));
}

// (t, primitive, u, v), or None.
inline nb::object answer(const bvh::Single& hit) {
  if (hit.primitive < 0) return nb::none();
  return nb::make_tuple(hit.t, hit.primitive, hit.u, hit.v);
}

}  // namespace bunraku
