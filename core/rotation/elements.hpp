#pragma once
// Elementwise operations over whole arrays: broadcasting, and the threads they are spread over.

#include <atomic>
#include <string_view>

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

// The operation of this name at the active level; core/rotation/kernel.cpp lists them.
const ElementwiseOperation& rotation_operation(std::string_view name);

// The least of the positions that several threads have found no answer for.
class FirstRefused {
 public:
  void note(std::int64_t found) {
    std::int64_t known = first_.load();
    while ((known < 0 || found < known) && !first_.compare_exchange_weak(known, found)) {
    }
  }
  std::int64_t position() const { return first_.load(); }  // -1 for none

 private:
  std::atomic<std::int64_t> first_{-1};
};

// Computes every element of the grid in C order, on several threads where there are many. Returns
// the first one without an answer, or -1.
std::int64_t run_elementwise(const ElementwiseOperation& operation, bool is_double, const Grid& grid,
                             const void* const* inputs, void* const* outputs, int option);

}  // namespace bunraku
