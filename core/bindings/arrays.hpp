#pragma once
// NumPy arrays as arguments of the core: read in place, never converted, and copied only where what
// is read lies between the places for such numbers (a field of packed records, say).
//
// nanobind's own ndarray asks an array for a DLPack capsule, which takes 0.2 µs each: of 2.0 µs that
// a call with six arrays took before it did anything, 0.6 are left. The fields read here are public
// and the same in NumPy 1 and 2 (numpy/ndarraytypes.h).

#include <nanobind/nanobind.h>

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace bunraku {

namespace nb = nanobind;

// An array of N axes that the caller's array is kept alive for. Without `kContiguous` its axes may
// lie any distance apart. T is const where nothing is written.
template <class T, std::size_t N, bool kContiguous = true>
class Array {
 public:
  T* data() const { return data_; }
  std::size_t shape(std::size_t axis) const { return static_cast<std::size_t>(shape_[axis]); }
  std::int64_t stride(std::size_t axis) const { return strides_[axis] / static_cast<std::int64_t>(sizeof(T)); }
  std::size_t size() const {
    std::size_t product = 1;
    for (std::size_t axis = 0; axis < N; ++axis) product *= shape(axis);
    return product;
  }

  bool read(nb::handle object);

 private:
  nb::object kept_;
  T* data_ = nullptr;
  Py_ssize_t shape_[N] = {}, strides_[N] = {};
};

namespace numpy {

struct Dtype {
  PyObject_HEAD PyTypeObject* scalar;
  char kind, letter, byte_order, flags;
  int number;
};

struct Ndarray {
  PyObject_HEAD char* data;
  int axes;
  Py_ssize_t *shape, *strides;
  PyObject* base;
  const Dtype* dtype;
  int flags;
};

inline constexpr int kContiguousFlag = 0x1, kAlignedFlag = 0x100, kWriteableFlag = 0x400;

inline PyTypeObject* array_type() {
  static PyTypeObject* const type =
      reinterpret_cast<PyTypeObject*>(nb::object(nb::module_::import_("numpy").attr("ndarray")).release().ptr());
  return type;
}

// Several C types may be as long; NumPy keeps their numbers apart.
template <class T>
bool is_number_of(int number) {
  if constexpr (std::same_as<T, float>) return number == 11;
  if constexpr (std::same_as<T, double>) return number == 12;
  if constexpr (std::same_as<T, bool>) return number == 0;
  constexpr std::size_t kSizes[] = {sizeof(bool),     sizeof(char), sizeof(char), sizeof(short),     sizeof(short),    sizeof(int),
                                    sizeof(int),      sizeof(long), sizeof(long), sizeof(long long), sizeof(long long)};
  return number >= 1 && number <= 10 && kSizes[number] == sizeof(T) && (number % 2 == 1) == std::is_signed_v<T>;
}

}  // namespace numpy

template <class T, std::size_t N, bool kContiguous>
bool Array<T, N, kContiguous>::read(nb::handle object) {
  if (!PyObject_TypeCheck(object.ptr(), numpy::array_type())) return false;
  const auto& array = *reinterpret_cast<const numpy::Ndarray*>(object.ptr());
  constexpr int kNeeded = (kContiguous ? numpy::kContiguousFlag : 0) |
                          (std::is_const_v<T> ? 0 : numpy::kAlignedFlag | numpy::kWriteableFlag);
  // The machine's own order is '=', or its name where a type was made by it (newbyteorder).
  constexpr char kForeign = std::endian::native == std::endian::little ? '>' : '<';
  if (array.axes != static_cast<int>(N) || (array.flags & kNeeded) != kNeeded || array.dtype->byte_order == kForeign ||
      !numpy::is_number_of<std::remove_const_t<T>>(array.dtype->number)) {
    return false;
  }
  if ((array.flags & numpy::kAlignedFlag) == 0) {
    const nb::object copy = nb::steal(PyObject_CallMethod(object.ptr(), "copy", nullptr));
    if (!copy.is_valid()) PyErr_Clear();  // no memory: the call is refused
    return copy.is_valid() && read(copy);
  }
  kept_ = nb::borrow(object);
  data_ = reinterpret_cast<T*>(array.data);
  for (std::size_t axis = 0; axis < N; ++axis) {
    shape_[axis] = array.shape[axis];
    strides_[axis] = array.strides[axis];
  }
  return true;
}

}  // namespace bunraku

template <class T, std::size_t N, bool kContiguous>
struct nanobind::detail::type_caster<bunraku::Array<T, N, kContiguous>> {
  using Given = bunraku::Array<T, N, kContiguous>;
  NB_TYPE_CASTER(Given, const_name("numpy.ndarray"))

  bool from_python(handle source, std::uint32_t, cleanup_list*) noexcept { return value.read(source); }
};
