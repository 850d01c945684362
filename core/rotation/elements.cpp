#include "rotation/elements.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "threads.hpp"

namespace bunraku {
namespace {

// Elements a thread should have at least.
constexpr std::int64_t kGrain = 4096;
// Outputs from this size on are written past the caches.
constexpr std::int64_t kStreamFrom = 4 << 20;

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

}  // namespace

int size_of(Number number, bool is_double) {
  switch (number) {
    case Number::truth: return 1;
    case Number::uint16: return 2;
    case Number::uint32: return 4;
    default: return is_double ? 8 : 4;
  }
}

const ElementwiseOperation& rotation_operation(std::string_view name) {
  const RotationKernels& kernels = rotation_kernels_at(active_level());
  for (int i = 0; i < kernels.operation_count; ++i) {
    if (name == kernels.operations[i].name) return kernels.operations[i];
  }
  throw std::logic_error("no rotation kernel " + std::string(name));
}

std::int64_t run_elementwise(const ElementwiseOperation& operation, bool is_double, const Grid& grid,
                             const void* const* inputs, void* const* outputs, int option) {
  if (grid.total == 0) return -1;
  const auto kernel = is_double ? operation.run_double : operation.run_float;
  const Grid rows = merged(grid, operation.input_count);
  const int input_size = size_of(operation.input, is_double), output_size = size_of(operation.output, is_double);
  std::int64_t bytes = 0;
  for (int o = 0; o < operation.output_count; ++o) bytes += rows.total * operation.output_widths[o] * output_size;
  FirstRefused refused;
  const int last = rows.axes - 1;
  const auto work = [&](std::int64_t begin, std::int64_t end) {
    while (begin < end) {
      ElementwiseJob job{};
      job.option = option;
      job.stream = bytes >= kStreamFrom;
      const std::int64_t column = begin % rows.lengths[last];
      const std::int64_t count = std::min(rows.lengths[last] - column, end - begin);
      for (int k = 0; k < operation.input_count; ++k) {
        std::int64_t row = begin / rows.lengths[last], place = column * rows.steps[k][last];
        for (int i = last - 1; i >= 0; row /= rows.lengths[i--]) place += row % rows.lengths[i] * rows.steps[k][i];
        job.strides[k] = rows.steps[k][last];
        job.inputs[k] = static_cast<const char*>(inputs[k]) + place * input_size;
      }
      for (int o = 0; o < operation.output_count; ++o) {
        job.outputs[o] = static_cast<char*>(outputs[o]) + begin * operation.output_widths[o] * output_size;
      }
      const std::int64_t bad = kernel(job, count);
      if (bad >= 0) return refused.note(begin + bad);
      begin += count;
    }
  };
  if (rows.total < 2 * kGrain) {
    work(0, rows.total);
  } else {
    parallel_for(rows.total, kGrain, work);
  }
  return refused.position();
}

}  // namespace bunraku
