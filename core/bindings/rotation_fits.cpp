// Fits over rows of rotations or vectors: the last leading axis is that of the slots, and goes.

#include "rotation.hpp"
#include "rotation/fits.hpp"

namespace bunraku {
namespace {

struct Row {
  Operand inputs[3];
  const void* data[3];
  bool is_double;
  Grid grid, results;

  // Whether they can be read in place and there is at least one slot of the first input.
  bool read_in_place(PyObject* const* given, Py_ssize_t given_count, const int* widths, int count) {
    if (given_count != count) throw nb::type_error("wrong number of arguments");
    for (int k = 0; k < count; ++k) {
      if (!read(given[k], Number::real, widths[k], inputs[k])) return false;
    }
    if (!common_type(inputs, count, is_double) || !broadcast(inputs, count, grid)) return false;
    if (grid.axes == 0 || inputs[0].axes == 0 || grid.lengths[grid.axes - 1] == 0) return false;
    for (int k = 0; k < count; ++k) data[k] = inputs[k].data(is_double);
    results.axes = grid.axes - 1;
    for (int i = 0; i < results.axes; ++i) results.lengths[i] = grid.lengths[i];
    return true;
  }

  template <class Fit>
  void run(const Fit& fit) const {
    if (grid.total == 0) return;
    if (grid.total < kReleaseFrom) return refuse(fit());
    std::int64_t refused;
    {
      const nb::gil_scoped_release released;
      refused = fit();
    }
    refuse(refused);
  }

  nb::object result(int width, void*& out) const { return new_array(results, width, Number::real, is_double, out); }
};

nb::object mean(const void*, PyObject* const* given, Py_ssize_t count) {
  constexpr int kWidths[] = {4, 1};
  Row row;
  if (!row.read_in_place(given, count, kWidths, 2)) return nb::none();
  void* out;
  nb::object result = row.result(4, out);
  row.run([&] { return fit_mean(row.is_double, row.grid, row.data, out); });
  return result;
}

nb::object blend(const void*, PyObject* const* given, Py_ssize_t count) {
  constexpr int kWidths[] = {8, 1};
  Row row;
  if (!row.read_in_place(given, count, kWidths, 2)) return nb::none();
  void* out;
  nb::object result = row.result(8, out);
  row.run([&] { return fit_blend(row.is_double, row.grid, row.data, out); });
  return result;
}

// With a translation, or the rotation alone.
template <bool Translated>
nb::object alignment(const void*, PyObject* const* given, Py_ssize_t count) {
  constexpr int kWidths[] = {3, 3, 1};
  Row row;
  if (!row.read_in_place(given, count, kWidths, 3) || row.inputs[1].axes == 0) return nb::none();
  void *rotation, *translation = nullptr;
  nb::object result = row.result(4, rotation), second;
  if (Translated) second = row.result(3, translation);
  row.run([&] { return fit_alignment(row.is_double, row.grid, row.data, rotation, translation); });
  return Translated ? nb::object(nb::make_tuple(result, second)) : result;
}

}  // namespace

void bind_rotation_fits(nb::module_& m) {
  define(m, "fit_mean", &mean, nullptr);
  define(m, "fit_blend", &blend, nullptr);
  define(m, "fit_vectors", &alignment<false>, nullptr);
  define(m, "fit_points", &alignment<true>, nullptr);
}

}  // namespace bunraku
