#pragma once
// Elementwise operations over whole arrays: broadcasting, and the threads they are spread over.

#include "rotation/rotation.hpp"

namespace bunraku {

inline constexpr int kMaxAxes = 32;

// The common leading axes, and each input's step along them in numbers (0 where it repeats).
struct Grid {
  int axes = 0;
  std::int64_t lengths[kMaxAxes];
  std::int64_t steps[kMaxInputs][kMaxAxes];
  std::int64_t total = 1;
};

// The bytes of a number in an array of floats or doubles.
int size_of(Number number, bool is_double);

// Computes every element of the grid in C order, on several threads where there are many. Returns
// the first one without an answer, or -1.
std::int64_t run_elementwise(const ElementwiseOperation& operation, bool is_double, const Grid& grid,
                             const void* const* inputs, void* const* outputs, int option);

}  // namespace bunraku
