// Tracks of rotations. Times and queries are contiguous float64 here, and so are keys; whatever is
// not is answered with None.

#include <cmath>
#include <cstring>
#include <utility>

#include "rotation.hpp"
#include "rotation/track.hpp"

namespace bunraku {
namespace {

bool is_contiguous(const Operand& operand) {
  const Py_buffer& view = operand.view;
  Py_ssize_t expected = view.itemsize;
  for (int i = view.ndim - 1; i >= 0; --i) {
    if (view.shape[i] != 1 && view.strides[i] != expected) return false;
    expected *= view.shape[i];
  }
  return true;
}

bool read_times(PyObject* object, Operand& operand) {
  if (!read(object, Number::real, 1, operand) || operand.weak) return false;
  if (operand.axes != 1 || !operand.is_double() || !is_contiguous(operand)) return false;
  return is_finite_and_increasing(static_cast<const double*>(operand.view.buf), operand.view.shape[0]);
}

// Keys (count, ..., 4) and where the trailing axes of each are.
bool read_keys(PyObject* object, Operand& operand, Track& track, Grid& rows) {
  if (!read(object, Number::real, 4, operand) || operand.axes < 1 || !is_contiguous(operand)) return false;
  const Py_buffer& view = operand.view;
  track = {nullptr, view.buf, view.shape[0], 1, operand.is_double()};
  for (int i = 1; i < operand.axes; ++i) {
    rows.lengths[rows.axes++] = view.shape[i];
    track.batch *= view.shape[i];
  }
  return true;
}

bool read_track(PyObject* const* given, Operand& times, Operand& keys, Track& track, Grid& rows) {
  if (!read_times(given[0], times) || !read_keys(given[1], keys, track, rows)) return false;
  track.times = static_cast<const double*>(times.view.buf);
  return track.count > 0 && times.view.shape[0] == track.count;
}

template <class Work>
std::int64_t with_others_running(std::int64_t elements, const Work& work) {
  if (elements < kReleaseFrom) return work();
  const nb::gil_scoped_release released;
  return work();
}

void expect(Py_ssize_t count, Py_ssize_t expected) {
  if (count != expected) throw nb::type_error("wrong number of arguments");
}

nb::object continuous(const void*, PyObject* const* given, Py_ssize_t count) {
  expect(count, 1);
  Operand keys;
  Track track;
  Grid rows, grid;
  if (!read_keys(given[0], keys, track, rows)) return nb::none();
  if (!broadcast(&keys, 1, grid)) return nb::none();
  void* out;
  nb::object result = new_array(grid, 4, Number::real, track.is_double, out);
  with_others_running(grid.total, [&] {
    make_continuous(track, out);
    return std::int64_t{-1};
  });
  return result;
}

// Sample: 0 for slerp, 1 for the spline.
template <int Spline>
nb::object sample(const void*, PyObject* const* given, Py_ssize_t count) {
  expect(count, 3);
  Operand times, keys, at;
  Track track;
  Grid rows, grid;
  if (!read_track(given, times, keys, track, rows) || !read(given[2], Number::real, 1, at)) return nb::none();
  if (!at.weak && (!at.is_double() || !is_contiguous(at))) return nb::none();
  if (at.axes + rows.axes > kMaxAxes) return nb::none();
  const auto* const queries = static_cast<const double*>(at.data(true));
  std::int64_t query_count = 1;
  for (int i = 0; i < at.axes; ++i) query_count *= grid.lengths[grid.axes++] = at.view.shape[i];
  for (std::int64_t i = 0; i < query_count; ++i) {
    if (std::isnan(queries[i])) return nb::none();
  }
  for (int i = 0; i < rows.axes; ++i) grid.lengths[grid.axes++] = rows.lengths[i];
  void* out;
  nb::object result = new_array(grid, 4, Number::real, track.is_double, out);
  refuse(with_others_running((query_count + track.count) * track.batch, [&]() -> std::int64_t {
    if (Spline) return sample_spline(track, queries, query_count, out);
    sample_slerp(track, queries, query_count, out);
    return -1;
  }));
  return result;
}

nb::object velocities(const void*, PyObject* const* given, Py_ssize_t count) {
  expect(count, 2);
  Operand times, keys;
  Track track;
  Grid rows, grid;
  if (!read_track(given, times, keys, track, rows) || !broadcast(&keys, 1, grid)) return nb::none();
  void* out;
  nb::object result = new_array(grid, 3, Number::real, track.is_double, out);
  refuse(with_others_running(grid.total, [&] { return key_velocities(track, out); }));
  return result;
}

// Of the track's keys alone, or of those and another's: `self` is the operation on neighbours.
nb::object neighbours(const void* self, PyObject* const* given, Py_ssize_t count) {
  const auto& operation = *static_cast<const ElementwiseOperation*>(self);
  const int tracks = operation.input_count / 2;
  expect(count, 1 + tracks);
  Operand times, keys[kMaxInputs];
  if (!read_times(given[0], times)) return nb::none();
  for (int k = 0; k < tracks; ++k) {
    if (!read(given[1 + k], Number::real, 4, keys[k])) return nb::none();
  }
  bool is_double;
  Grid grid;
  if (!common_type(keys, tracks, is_double) || !broadcast(keys, tracks, grid)) return nb::none();
  if (grid.axes < 1 || grid.lengths[0] != times.view.shape[0] || grid.lengths[0] == 0) return nb::none();
  to_neighbours(grid);
  const void* from[kMaxInputs];
  for (int k = 0; k < tracks; ++k) from[k] = keys[k].view.buf;
  void* out;
  nb::object result = new_array(grid, operation.output_widths[0], Number::real, is_double, out);
  refuse(with_others_running(grid.total, [&] {
    return run_on_neighbours(operation, is_double, grid, static_cast<const double*>(times.view.buf), from, tracks, out);
  }));
  return result;
}

}  // namespace

void bind_rotation_tracks(nb::module_& m) {
  define(m, "track_continuous", &continuous, nullptr);
  define(m, "track_slerp", &sample<0>, nullptr);
  define(m, "track_spline", &sample<1>, nullptr);
  define(m, "track_key_velocities", &velocities, nullptr);
  define(m, "track_angular_velocity", &neighbours, &rotation_operation("angular_velocity"));
  define(m, "track_relative_angular_velocity", &neighbours, &rotation_operation("relative_angular_velocity"));
  define(m, "track_angular_speed", &neighbours, &rotation_operation("angular_speed"));
}

}  // namespace bunraku
