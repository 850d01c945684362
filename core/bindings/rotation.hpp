#pragma once
// How the rotation room reads arrays: through the buffer protocol, without a copy.
//
// A single rotation should cost no more than NumPy's own overhead, so the ordinary case is read
// right here. Anything else (lists, other types, shapes that do not fit) is answered with None, and
// the Python side converts it or says what is wrong with it.

#include <nanobind/nanobind.h>

#include <cstdint>

#include "rotation/elements.hpp"

namespace bunraku {

namespace nb = nanobind;

// Elements from which on other Python threads may run meanwhile.
inline constexpr std::int64_t kReleaseFrom = 1024;

// An array held through the buffer protocol, or a Python number.
struct Operand {
  Py_buffer view{};
  bool held = false;
  bool weak = false;  // a plain number follows the arrays' type
  double number = 0;
  float single = 0;
  int axes = 0;  // leading ones

  Operand() = default;
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;
  ~Operand() {
    if (held) PyBuffer_Release(&view);
  }

  bool hold(PyObject* object, int flags);
  bool is_double() const { return view.format[0] == 'd'; }
  const void* data(bool as_double) const;
};

// Whether it is an array of such elements that can be read in place.
bool read(PyObject* object, Number kind, int width, Operand& operand);

// Whether the arrays among them are of one type, and which; numbers alone are doubles.
bool common_type(const Operand* inputs, int count, bool& is_double);

// Whether the leading axes fit together.
bool broadcast(const Operand* inputs, int count, Grid& grid);

// A new array of elements of `width` numbers on a grid, and where its numbers are.
nb::object new_array(const Grid& grid, int width, Number kind, bool is_double, void*& data);

// Raises NoAnswerError with the position, if it is one.
void refuse(std::int64_t position);

// Adds a function of the arguments alone, called without any conversion: a `body` that returns a new
// reference or throws, and gets `self`.
using Body = nb::object (*)(const void* self, PyObject* const* arguments, Py_ssize_t count);
void define(nb::module_& m, const char* name, Body body, const void* self);

}  // namespace bunraku
