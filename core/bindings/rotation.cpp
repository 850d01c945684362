#include "rotation.hpp"

#include <algorithm>

namespace bunraku {

void bind_rotation_fits(nb::module_& m);
void bind_rotation_tracks(nb::module_& m);

namespace {

struct Objects {
  PyObject* empty;
  PyObject* types[5];  // of numbers: float32, then as in Number with float64 for real
  PyObject* dtypes[5];
  PyObject* no_answer;
};
Objects objects;

struct Axes {
  int count;
  Py_ssize_t lengths[2];
};

constexpr Axes axes_of(int width) {
  switch (width) {
    case 1: return {0, {}};
    case 9: return {2, {3, 3}};
    case 12: return {2, {3, 4}};
    case 16: return {2, {4, 4}};
    default: return {1, {width}};
  }
}

bool has_format(const char* format, Number kind) {
  if (format == nullptr || format[0] == '\0' || format[1] != '\0') return false;
  switch (kind) {
    case Number::truth: return format[0] == '?';
    case Number::uint16: return format[0] == 'H';
    case Number::uint32: return format[0] == 'I';
    default: return format[0] == 'f' || format[0] == 'd';
  }
}

}  // namespace

bool Operand::hold(PyObject* object, int flags) {
  held = PyObject_GetBuffer(object, &view, flags) == 0;
  if (!held) PyErr_Clear();
  return held;
}

const void* Operand::data(bool as_double) const {
  if (!weak) return view.buf;
  return as_double ? static_cast<const void*>(&number) : &single;
}

bool read(PyObject* object, Number kind, int width, Operand& operand) {
  const Axes axes = axes_of(width);
  if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) {
    operand.weak = true;
    operand.number = PyFloat_AsDouble(object);
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return false;
    }
    operand.single = static_cast<float>(operand.number);
    return axes.count == 0 && kind == Number::real;
  }
  if (!PyObject_CheckBuffer(object) || !operand.hold(object, PyBUF_STRIDES | PyBUF_FORMAT)) return false;
  const Py_buffer& view = operand.view;
  if (!has_format(view.format, kind)) return false;
  if (reinterpret_cast<std::uintptr_t>(view.buf) % static_cast<std::size_t>(view.itemsize) != 0) return false;
  operand.axes = view.ndim - axes.count;
  if (operand.axes < 0 || operand.axes > kMaxAxes) return false;
  Py_ssize_t expected = view.itemsize;
  for (int i = view.ndim - 1; i >= operand.axes; --i) {
    const Py_ssize_t length = axes.lengths[i - operand.axes];
    if (view.shape[i] != length || view.strides[i] != expected) return false;
    expected *= length;
  }
  for (int i = 0; i < operand.axes; ++i) {
    if (view.strides[i] % view.itemsize != 0) return false;
  }
  return true;
}

bool common_type(const Operand* inputs, int count, bool& is_double) {
  const Operand* typed = nullptr;
  for (int k = 0; k < count; ++k) {
    if (inputs[k].weak) continue;
    if (typed != nullptr && typed->is_double() != inputs[k].is_double()) return false;
    typed = &inputs[k];
  }
  is_double = typed == nullptr || typed->is_double();
  return true;
}

bool broadcast(const Operand* inputs, int count, Grid& grid) {
  for (int k = 0; k < count; ++k) grid.axes = std::max(grid.axes, inputs[k].axes);
  for (int i = 0; i < grid.axes; ++i) {
    grid.lengths[i] = 1;
    for (int k = 0; k < count; ++k) {
      const int axis = i - (grid.axes - inputs[k].axes);
      const std::int64_t length = axis < 0 ? 1 : inputs[k].view.shape[axis];
      grid.steps[k][i] = length == 1 ? 0 : inputs[k].view.strides[axis] / inputs[k].view.itemsize;
      if (length == 1) continue;
      if (grid.lengths[i] != 1 && grid.lengths[i] != length) return false;
      grid.lengths[i] = length;
    }
    grid.total *= grid.lengths[i];
  }
  return true;
}

namespace {

// Where it is in the lists of types.
int place_of(Number kind, bool is_double) {
  return kind == Number::real && !is_double ? 0 : 1 + static_cast<int>(kind);
}

// A number of NumPy's own type: what an array without axes becomes, as with its own functions.
nb::object new_number(Number kind, bool is_double, const void* data) {
  PyObject* made = nullptr;
  switch (kind) {
    case Number::truth: made = PyBool_FromLong(*static_cast<const std::uint8_t*>(data)); break;
    case Number::uint16: made = PyLong_FromLong(*static_cast<const std::uint16_t*>(data)); break;
    case Number::uint32: made = PyLong_FromUnsignedLong(*static_cast<const std::uint32_t*>(data)); break;
    default: made = PyFloat_FromDouble(is_double ? *static_cast<const double*>(data) : *static_cast<const float*>(data));
  }
  const nb::object plain = nb::steal(made);
  if (!plain.is_valid()) throw nb::python_error();
  nb::object number = nb::steal(PyObject_CallOneArg(objects.types[place_of(kind, is_double)], made));
  if (!number.is_valid()) throw nb::python_error();
  return number;
}

}  // namespace

nb::object new_array(const Grid& grid, int width, Number kind, bool is_double, void*& data) {
  const Axes axes = axes_of(width);
  const nb::object shape = nb::steal(PyTuple_New(grid.axes + axes.count));
  if (!shape.is_valid()) throw nb::python_error();
  for (int i = 0; i < grid.axes + axes.count; ++i) {
    const Py_ssize_t length = i < grid.axes ? grid.lengths[i] : axes.lengths[i - grid.axes];
    PyTuple_SET_ITEM(shape.ptr(), i, PyLong_FromSsize_t(length));
  }
  PyObject* const arguments[] = {shape.ptr(), objects.dtypes[place_of(kind, is_double)]};
  nb::object made = nb::steal(PyObject_Vectorcall(objects.empty, arguments, 2, nullptr));
  if (!made.is_valid()) throw nb::python_error();
  Operand output;
  if (!output.hold(made.ptr(), PyBUF_WRITABLE)) throw nb::type_error("numpy.empty gave no array");
  data = output.view.buf;
  return made;
}

void refuse(std::int64_t position) {
  if (position < 0) return;
  PyErr_SetObject(objects.no_answer, nb::int_(position).ptr());
  throw nb::python_error();
}

namespace {

// The arguments are one array or number for each input, then the option.
nb::object apply(const void* self, PyObject* const* given, Py_ssize_t count) {
  const auto& operation = *static_cast<const ElementwiseOperation*>(self);
  if (count != operation.input_count + 1) throw nb::type_error("wrong number of arguments");
  const int option = static_cast<int>(PyLong_AsLong(given[operation.input_count]));
  if (option == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();

  Operand inputs[kMaxInputs];
  for (int k = 0; k < operation.input_count; ++k) {
    if (!read(given[k], operation.input, operation.input_widths[k], inputs[k])) return nb::none();
  }
  bool is_double = option == 8;  // of the numbers that whole ones become, it is the size
  if (operation.input == Number::real && !common_type(inputs, operation.input_count, is_double)) return nb::none();
  Grid grid;
  if (!broadcast(inputs, operation.input_count, grid)) return nb::none();

  const void* from[kMaxInputs];
  void* to[kMaxOutputs];
  nb::object results[kMaxOutputs];
  for (int k = 0; k < operation.input_count; ++k) from[k] = inputs[k].data(is_double);
  double numbers[kMaxOutputs];
  const auto is_number = [&](int o) { return grid.axes == 0 && operation.output_widths[o] == 1; };
  for (int o = 0; o < operation.output_count; ++o) {
    if (is_number(o)) {
      to[o] = &numbers[o];
    } else {
      results[o] = new_array(grid, operation.output_widths[o], operation.output, is_double, to[o]);
    }
  }
  if (grid.total < kReleaseFrom) {
    refuse(run_elementwise(operation, is_double, grid, from, to, option));
  } else {
    std::int64_t refused;
    {
      const nb::gil_scoped_release released;
      refused = run_elementwise(operation, is_double, grid, from, to, option);
    }
    refuse(refused);
  }
  for (int o = 0; o < operation.output_count; ++o) {
    if (is_number(o)) results[o] = new_number(operation.output, is_double, to[o]);
  }
  if (operation.output_count == 1) return results[0];
  const nb::object all = nb::steal(PyTuple_New(operation.output_count));
  if (!all.is_valid()) throw nb::python_error();
  for (int o = 0; o < operation.output_count; ++o) PyTuple_SET_ITEM(all.ptr(), o, results[o].release().ptr());
  return all;
}

struct Function {
  PyMethodDef method;
  Body body;
  const void* self;
};

PyObject* call(PyObject* capsule, PyObject* const* arguments, Py_ssize_t count) {
  const auto* function = static_cast<const Function*>(PyCapsule_GetPointer(capsule, nullptr));
  try {
    return function->body(function->self, arguments, count).release().ptr();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  }
  return nullptr;
}

}  // namespace

void define(nb::module_& m, const char* name, Body body, const void* self) {
  auto* function = new Function{{name, nullptr, METH_FASTCALL, nullptr}, body, self};
  function->method.ml_meth = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call));
  const nb::object capsule = nb::steal(PyCapsule_New(function, nullptr, nullptr));
  if (!capsule.is_valid()) throw nb::python_error();
  m.attr(name) = nb::steal(PyCFunction_New(&function->method, capsule.ptr()));
}

void bind_rotation(nb::module_& m) {
  const nb::module_ numpy = nb::module_::import_("numpy");
  objects.empty = nb::object(numpy.attr("empty")).release().ptr();
  const char* const names[] = {"float32", "float64", "bool", "uint16", "uint32"};
  for (int i = 0; i < 5; ++i) {
    nb::object dtype = numpy.attr("dtype")(names[i]);
    objects.types[i] = nb::object(dtype.attr("type")).release().ptr();
    objects.dtypes[i] = dtype.release().ptr();
  }
  objects.no_answer = PyErr_NewException("bunraku._core.rotation.NoAnswerError", PyExc_ValueError, nullptr);
  m.attr("NoAnswerError") = nb::handle(objects.no_answer);
  const RotationKernels& kernels = rotation_kernels_at(active_level());
  for (int i = 0; i < kernels.operation_count; ++i) define(m, kernels.operations[i].name, &apply, &kernels.operations[i]);
  bind_rotation_fits(m);
  bind_rotation_tracks(m);
}

}  // namespace bunraku
