// Elementwise operations on whatever offers a buffer of float32 or float64, without a copy.
//
// A single rotation should cost no more than NumPy's own overhead, so the ordinary case is read
// through the buffer protocol right here. Anything else (lists, other types, shapes that do not
// fit) is answered with None, and the Python side converts it or says what is wrong with it.

#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "rotation/rotation.hpp"
#include "threads.hpp"

namespace nb = nanobind;

namespace bunraku {
namespace {

constexpr int kMaxAxes = 32, kMaxInputs = 3, kMaxOutputs = 2;
// Elements a thread should have at least, and elements from which on others may run meanwhile.
constexpr std::int64_t kGrain = 16384, kReleaseFrom = 1024;
// Outputs from this size on are written past the caches.
constexpr std::int64_t kStreamFrom = 4 << 20;

struct Objects {
  PyObject* empty;
  PyObject* float32;
  PyObject* float64;
  PyObject* no_answer;
  PyObject* no_index;
};
Objects objects;

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

  bool hold(PyObject* object, int flags) {
    held = PyObject_GetBuffer(object, &view, flags) == 0;
    if (!held) PyErr_Clear();
    return held;
  }
  bool is_double() const { return view.format[0] == 'd'; }
};

struct Axes {
  int count;
  int length;
};

constexpr Axes axes_of(int width) {
  return width == 1 ? Axes{0, 1} : width == 9 ? Axes{2, 3} : width == 16 ? Axes{2, 4} : Axes{1, width};
}

bool read(PyObject* object, int width, Operand& operand) {
  const Axes axes = axes_of(width);
  if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) {
    operand.weak = true;
    operand.number = PyFloat_AsDouble(object);
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    operand.single = static_cast<float>(operand.number);
    return axes.count == 0;
  }
  if (!PyObject_CheckBuffer(object) || !operand.hold(object, PyBUF_STRIDES | PyBUF_FORMAT)) return false;
  const Py_buffer& view = operand.view;
  const char* format = view.format;
  if (format == nullptr || (format[0] != 'f' && format[0] != 'd') || format[1] != '\0') return false;
  if (reinterpret_cast<std::uintptr_t>(view.buf) % static_cast<std::size_t>(view.itemsize) != 0) return false;
  operand.axes = view.ndim - axes.count;
  if (operand.axes < 0 || operand.axes > kMaxAxes) return false;
  Py_ssize_t expected = view.itemsize;
  for (int i = view.ndim - 1; i >= operand.axes; --i) {
    if (view.shape[i] != axes.length || view.strides[i] != expected) return false;
    expected *= axes.length;
  }
  for (int i = 0; i < operand.axes; ++i) {
    if (view.strides[i] % view.itemsize != 0) return false;
  }
  return true;
}

// The common leading axes, and each input's step along them in numbers (0 where it repeats).
struct Grid {
  int axes = 0;
  std::int64_t lengths[kMaxAxes];
  std::int64_t steps[kMaxInputs][kMaxAxes];
  std::int64_t total = 1;
};

bool broadcast(const Operand* inputs, int count, Grid& grid) {
  for (int k = 0; k < count; ++k) grid.axes = std::max(grid.axes, inputs[k].axes);
  for (int i = 0; i < grid.axes; ++i) {
    grid.lengths[i] = 1;
    for (int k = 0; k < count; ++k) {
      const int axis = i - (grid.axes - inputs[k].axes);
      const std::int64_t length = axis >= 0 ? inputs[k].view.shape[axis] : 1;
      grid.steps[k][i] = length == 1 ? 0 : inputs[k].view.strides[axis] / inputs[k].view.itemsize;
      if (length == 1) continue;
      if (grid.lengths[i] != 1 && grid.lengths[i] != length) return false;
      grid.lengths[i] = length;
    }
    grid.total *= grid.lengths[i];
  }
  return true;
}

// Joins neighbouring axes that every input walks through evenly, so that rows are long.
Grid merged(const Grid& grid, int count) {
  Grid rows;
  rows.total = grid.total;
  for (int i = 0; i < grid.axes; ++i) {
    if (grid.lengths[i] == 1) continue;
    bool even = rows.axes > 0;
    for (int k = 0; k < count && even; ++k) {
      even = rows.steps[k][rows.axes - 1] == grid.steps[k][i] * grid.lengths[i];
    }
    const int to = even ? rows.axes - 1 : rows.axes++;
    rows.lengths[to] = grid.lengths[i] * (even ? rows.lengths[to] : 1);
    for (int k = 0; k < count; ++k) rows.steps[k][to] = grid.steps[k][i];
  }
  if (rows.axes == 0) {
    rows.axes = 1;
    rows.lengths[0] = 1;
    for (int k = 0; k < count; ++k) rows.steps[k][0] = 0;
  }
  return rows;
}

template <class T>
std::int64_t run(const ElementwiseOperation& operation, std::int64_t (*kernel)(const ElementwiseJob<T>&, std::int64_t),
                 const Grid& rows, const T* const* inputs, T* const* outputs, int option) {
  std::atomic<std::int64_t> refused{-1};
  const int last = rows.axes - 1;
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      ElementwiseJob<T> job{};
      job.option = option;
      std::int64_t row = begin / rows.lengths[last];
      const std::int64_t column = begin % rows.lengths[last];
      const std::int64_t count = std::min(rows.lengths[last] - column, end - begin);
      for (int k = 0; k < operation.input_count; ++k) {
        job.strides[k] = rows.steps[k][last];
        job.inputs[k] = inputs[k] + column * rows.steps[k][last];
      }
      for (int i = last - 1; i >= 0; --i) {
        const std::int64_t index = row % rows.lengths[i];
        row /= rows.lengths[i];
        for (int k = 0; k < operation.input_count; ++k) job.inputs[k] += index * rows.steps[k][i];
      }
      std::int64_t bytes = 0;
      for (int o = 0; o < operation.output_count; ++o) {
        job.outputs[o] = outputs[o] + begin * operation.output_widths[o];
        bytes += rows.total * operation.output_widths[o] * static_cast<std::int64_t>(sizeof(T));
      }
      job.stream = bytes >= kStreamFrom;
      const std::int64_t bad = kernel(job, count);
      if (bad >= 0) {
        const std::int64_t found = begin + bad;
        std::int64_t known = refused.load();
        while ((known < 0 || found < known) && !refused.compare_exchange_weak(known, found)) {
        }
        return;
      }
      begin += count;
    }
  };
  if (rows.total < kReleaseFrom) {
    work(0, rows.total);
  } else {
    const nb::gil_scoped_release released;
    parallel_for(rows.total, kGrain, work);
  }
  return refused.load();
}

nb::object new_array(const Grid& grid, int width, bool is_double) {
  const Axes axes = axes_of(width);
  const nb::object shape = nb::steal(PyTuple_New(grid.axes + axes.count));
  if (!shape.is_valid()) throw nb::python_error();
  for (int i = 0; i < grid.axes + axes.count; ++i) {
    PyTuple_SET_ITEM(shape.ptr(), i, PyLong_FromLongLong(i < grid.axes ? grid.lengths[i] : axes.length));
  }
  PyObject* const arguments[] = {shape.ptr(), is_double ? objects.float64 : objects.float32};
  PyObject* const made = PyObject_Vectorcall(objects.empty, arguments, 2, nullptr);
  if (made == nullptr) throw nb::python_error();
  return nb::steal(made);
}

template <class T>
void fill(const ElementwiseOperation& operation, std::int64_t (*kernel)(const ElementwiseJob<T>&, std::int64_t),
          const Operand* inputs, const Grid& grid, nb::object* results, int option) {
  const T* from[kMaxInputs];
  T* to[kMaxOutputs];
  Operand outputs[kMaxOutputs];
  for (int k = 0; k < operation.input_count; ++k) {
    const void* number = sizeof(T) == 4 ? static_cast<const void*>(&inputs[k].single) : &inputs[k].number;
    from[k] = static_cast<const T*>(inputs[k].weak ? number : inputs[k].view.buf);
  }
  for (int o = 0; o < operation.output_count; ++o) {
    results[o] = new_array(grid, operation.output_widths[o], sizeof(T) == 8);
    if (!outputs[o].hold(results[o].ptr(), PyBUF_WRITABLE)) throw nb::type_error("numpy.empty gave no array");
    to[o] = static_cast<T*>(outputs[o].view.buf);
  }
  if (grid.total == 0) return;
  const std::int64_t refused = run(operation, kernel, merged(grid, operation.input_count), from, to, option);
  if (refused >= 0) {
    PyErr_SetObject(objects.no_answer, nb::int_(refused).ptr());
    throw nb::python_error();
  }
}

// An array without axes becomes a number, as with NumPy's own functions.
nb::object unwrapped(nb::object array, const Grid& grid, int width) {
  if (grid.axes + axes_of(width).count > 0) return array;
  PyObject* const number = PyObject_GetItem(array.ptr(), objects.no_index);
  if (number == nullptr) throw nb::python_error();
  return nb::steal(number);
}

nb::object apply(const ElementwiseOperation& operation, const nb::handle* given, int option) {
  Operand inputs[kMaxInputs];
  const Operand* typed = nullptr;
  for (int k = 0; k < operation.input_count; ++k) {
    if (!read(given[k].ptr(), operation.input_widths[k], inputs[k])) return nb::none();
    if (inputs[k].weak) continue;
    if (typed != nullptr && typed->is_double() != inputs[k].is_double()) return nb::none();
    typed = &inputs[k];
  }
  Grid grid;
  if (typed == nullptr || !broadcast(inputs, operation.input_count, grid)) return nb::none();
  nb::object results[kMaxOutputs];
  if (typed->is_double()) {
    fill(operation, operation.run_double, inputs, grid, results, option);
  } else {
    fill(operation, operation.run_float, inputs, grid, results, option);
  }
  const nb::object first = unwrapped(results[0], grid, operation.output_widths[0]);
  if (operation.output_count == 1) return first;
  return nb::make_tuple(first, unwrapped(results[1], grid, operation.output_widths[1]));
}

void define(nb::module_& m, const ElementwiseOperation& operation) {
  const auto* op = &operation;
  switch (operation.input_count) {
    case 1:
      m.def(op->name, [op](nb::handle a, int option) { return apply(*op, &a, option); },
            nb::arg("a").none(), nb::arg("option") = 0);
      break;
    case 2:
      m.def(op->name, [op](nb::handle a, nb::handle b, int option) {
        const nb::handle given[] = {a, b};
        return apply(*op, given, option);
      }, nb::arg("a").none(), nb::arg("b").none(), nb::arg("option") = 0);
      break;
    default:
      m.def(op->name, [op](nb::handle a, nb::handle b, nb::handle c, int option) {
        const nb::handle given[] = {a, b, c};
        return apply(*op, given, option);
      }, nb::arg("a").none(), nb::arg("b").none(), nb::arg("c").none(), nb::arg("option") = 0);
  }
}

}  // namespace

void bind_rotation(nb::module_& m) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  objects.empty = nb::object(numpy.attr("empty")).release().ptr();
  objects.float32 = nb::object(numpy.attr("dtype")("float32")).release().ptr();
  objects.float64 = nb::object(numpy.attr("dtype")("float64")).release().ptr();
  objects.no_index = PyTuple_New(0);
  objects.no_answer = PyErr_NewException("bunraku._core.rotation.NoAnswerError", PyExc_ValueError, nullptr);
  m.attr("NoAnswerError") = nb::handle(objects.no_answer);
  const RotationKernels& kernels = rotation_kernels_at(active_level());
  for (int i = 0; i < kernels.operation_count; ++i) define(m, kernels.operations[i]);
}

}  // namespace bunraku
