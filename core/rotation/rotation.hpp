#pragma once
// Rotations, many at a time: one function over each element of up to three broadcast arrays.

#include <cstdint>

#include "level.hpp"

namespace bunraku {

// Input i's element e starts at inputs[i] + e * strides[i] (a stride of 0 repeats one element), and
// its numbers lie side by side, as do the elements of every output. Nothing is owned.
template <class T>
struct ElementwiseJob {
  const T* inputs[3];
  std::int64_t strides[3];
  T* outputs[2];
  int option;   // what the operation's own header says
  bool stream;  // write around the caches
};

// Numbers per element tell its shape: 1 (), 3, 4, 8 (n,), 9 (3, 3), 16 (4, 4).
struct ElementwiseOperation {
  const char* name;
  int input_count;
  int input_widths[3];
  int output_count;
  int output_widths[2];
  // Each computes `count` elements and returns the first one it has no answer for, or -1.
  std::int64_t (*run_float)(const ElementwiseJob<float>&, std::int64_t count);
  std::int64_t (*run_double)(const ElementwiseJob<double>&, std::int64_t count);
};

struct RotationKernels {
  const ElementwiseOperation* operations;
  int operation_count;
};

BUNRAKU_DECLARE_KERNELS(RotationKernels, rotation_kernels)

}  // namespace bunraku
