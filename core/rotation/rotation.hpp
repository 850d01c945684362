#pragma once
// Rotations, many at a time: one function over each element of broadcast arrays.

#include <cstdint>

#include "level.hpp"

namespace bunraku {

inline constexpr int kMaxInputs = 7, kMaxOutputs = 4;

// Input i's element e starts at inputs[i] + e * strides[i] numbers (a stride of 0 repeats one
// element), and its numbers lie side by side, as do the elements of every output. Nothing is owned.
struct ElementwiseJob {
  const void* inputs[kMaxInputs];
  std::int64_t strides[kMaxInputs];
  void* outputs[kMaxOutputs];
  int option;   // what the operation's own header says
  bool stream;  // write around the caches
};

// What the inputs or the outputs of an operation are made of. `real` is float or double, the same
// everywhere; where one side is not real, the other side is.
enum class Number { real, truth, uint16, uint32 };

// Numbers per element tell its shape: 1 (), 3, 4, 8 (n,), 9 (3, 3), 12 (3, 4), 16 (4, 4).
struct ElementwiseOperation {
  const char* name;
  Number input;
  int input_count;
  int input_widths[kMaxInputs];
  Number output;
  int output_count;
  int output_widths[kMaxOutputs];
  // Each computes `count` elements and returns the first one it has no answer for, or -1.
  std::int64_t (*run_float)(const ElementwiseJob&, std::int64_t count);
  std::int64_t (*run_double)(const ElementwiseJob&, std::int64_t count);
};

struct RotationKernels {
  const ElementwiseOperation* operations;
  int operation_count;
};

BUNRAKU_DECLARE_KERNELS(RotationKernels, rotation_kernels)

}  // namespace bunraku
