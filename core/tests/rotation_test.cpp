// The rotation kernels at every level: the same bits, nothing read or written out of bounds.

#include "rotation/rotation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "check.hpp"

using namespace bunraku;

namespace {

constexpr int kEulerXyz = 0 | 1 << 2 | 2 << 4;

template <class T>
auto runner(const ElementwiseOperation& operation) {
  if constexpr (sizeof(T) == 4) {
    return operation.run_float;
  } else {
    return operation.run_double;
  }
}

// Inputs that every operation has an answer for: unit quaternions, rotation matrices, numbers in
// [0, 1]. Each lies in a block of its own of exactly its size, so that the sanitizer sees a step
// beyond it.
template <class T>
std::vector<T> plausible(int width, std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> number(0.1, 1.0);
  std::vector<T> made(static_cast<std::size_t>(width * count));
  for (std::int64_t e = 0; e < count; ++e) {
    T* const at = made.data() + e * width;
    const double angle = number(random), c = std::cos(angle), s = std::sin(angle);
    double square = 0;
    for (int i = 0; i < width; ++i) {
      const double x = number(random);
      at[i] = static_cast<T>(x);
      if (i < 4) square += x * x;
    }
    if (width == 4 || width == 8) {
      for (int i = 0; i < width; ++i) at[i] = static_cast<T>(at[i] / std::sqrt(square));
    }
    const int row = width == 9 ? 3 : 4;
    if (width == 9 || width == 12 || width == 16) {
      for (int i = 0; i < width; ++i) at[i] = static_cast<T>(i % (row + 1) == 0);
      at[0] = at[row + 1] = static_cast<T>(c);
      at[1] = static_cast<T>(-s);
      at[row] = static_cast<T>(s);
    }
  }
  return made;
}

template <class T>
struct Result {
  std::int64_t refused = 0;
  std::vector<std::byte> outputs[kMaxOutputs];

  T number(int output, std::size_t i) const {
    T x;
    std::memcpy(&x, outputs[output].data() + i * sizeof(T), sizeof x);
    return x;
  }
};

template <class T>
std::size_t bytes_of(Number number) {
  switch (number) {
    case Number::real: return sizeof(T);
    case Number::uint32: return 4;
    case Number::uint16: return 2;
    default: return 1;
  }
}

constexpr std::byte kUntouched{0x5a};

template <class T>
Result<T> run(const ElementwiseOperation& operation, const std::vector<T>* inputs, const std::int64_t* strides,
              std::int64_t count, bool stream, int shift) {
  Result<T> result;
  ElementwiseJob job{};
  job.option = kEulerXyz;
  job.stream = stream;
  for (int k = 0; k < operation.input_count; ++k) {
    job.inputs[k] = inputs[k].data();
    job.strides[k] = strides[k];
  }
  for (int o = 0; o < operation.output_count; ++o) {
    const std::size_t size = bytes_of<T>(operation.output);
    result.outputs[o].assign(static_cast<std::size_t>(operation.output_widths[o] * count + shift) * size, kUntouched);
    job.outputs[o] = result.outputs[o].data() + static_cast<std::size_t>(shift) * size;
  }
  result.refused = runner<T>(operation)(job, count);
  return result;
}

template <class T>
void compare_levels(int index, std::int64_t count) {
  const ElementwiseOperation& first = rotation_kernels_at(Level::baseline).operations[index];
  if (first.input != Number::real) return;  // packed rotations: the Python tests unpack them
  std::vector<T> inputs[kMaxInputs];
  for (int k = 0; k < first.input_count; ++k) inputs[k] = plausible<T>(first.input_widths[k], count, 5u + unsigned(k));
  for (const bool repeat_last : {false, true}) {
    std::int64_t strides[kMaxInputs];
    for (int k = 0; k < first.input_count; ++k) {
      strides[k] = repeat_last && k == first.input_count - 1 ? 0 : first.input_widths[k];
    }
    const Result<T> expected = run(first, inputs, strides, count, false, 0);
    CHECK(expected.refused == -1);
    for (const Level level : available_levels()) {
      const ElementwiseOperation& operation = rotation_kernels_at(level).operations[index];
      CHECK(std::string(operation.name) == first.name);
      for (const bool stream : {false, true}) {
        for (const int shift : {0, 1, 5}) {
          const Result<T> found = run(operation, inputs, strides, count, stream, shift);
          CHECK(found.refused == -1);
          for (int o = 0; o < operation.output_count; ++o) {
            std::vector<std::byte> shifted(static_cast<std::size_t>(shift) * bytes_of<T>(first.output), kUntouched);
            shifted.insert(shifted.end(), expected.outputs[o].begin(), expected.outputs[o].end());
            CHECK(found.outputs[o] == shifted);
          }
        }
      }
    }
  }
}

const ElementwiseOperation& named(const std::string& name, Level level) {
  const RotationKernels& kernels = rotation_kernels_at(level);
  for (int i = 0; i < kernels.operation_count; ++i) {
    if (kernels.operations[i].name == name) return kernels.operations[i];
  }
  bunraku::tests::fail(__FILE__, __LINE__, "no operation " + name);
  return kernels.operations[0];
}

}  // namespace

TEST(rotation_kernels_give_the_same_bits_at_every_level) {
  const int operations = rotation_kernels_at(Level::baseline).operation_count;
  for (int i = 0; i < operations; ++i) {
    for (const std::int64_t count : {0, 1, 2, 3, 4, 5, 7, 8, 9, 63, 64, 65, 127, 128, 131}) {
      compare_levels<float>(i, count);
      compare_levels<double>(i, count);
    }
  }
}

TEST(odd_strides_read_the_elements_they_name) {
  const std::int64_t count = 70;
  const std::vector<double> wide = plausible<double>(8, count, 3);
  for (const Level level : available_levels()) {
    std::vector<double> inputs[3] = {wide}, packed[3];
    for (std::int64_t e = 0; e < count; ++e) {
      packed[0].insert(packed[0].end(), wide.begin() + e * 8, wide.begin() + e * 8 + 4);
    }
    const std::int64_t eight[3] = {8}, four[3] = {4};
    const ElementwiseOperation& operation = named("to_matrix", level);
    CHECK(run(operation, inputs, eight, count, false, 0).outputs[0] ==
          run(operation, packed, four, count, false, 0).outputs[0]);
  }
}

TEST(the_first_element_without_an_answer_is_told) {
  for (const Level level : available_levels()) {
    for (const std::int64_t zero : {0, 1, 7, 63, 64, 100, 130}) {
      std::vector<float> inputs[3] = {plausible<float>(4, 131, 1)};
      for (int i = 0; i < 4; ++i) inputs[0][static_cast<std::size_t>(4 * zero + i)] = 0;
      for (int i = 0; i < 4; ++i) inputs[0][static_cast<std::size_t>(4 * 130 + i)] = std::nanf("");
      const std::int64_t strides[3] = {4};
      CHECK(run(named("normalize", level), inputs, strides, 131, false, 0).refused == zero);
    }
  }
}

TEST(sine_cosine_and_arctangent_are_right_to_the_last_digits) {
  // Through rotation vectors about X: (sin(x/2), 0, 0, cos(x/2)), and back.
  for (const Level level : available_levels()) {
    double worst_sine = 0, worst_angle = 0;
    for (int i = 1; i < 20000; ++i) {
      const double x = i * 1e-3 * (i % 3 == 0 ? 40.0 : 1.0);
      std::vector<double> inputs[3] = {{x, 0, 0}};
      const std::int64_t strides[3] = {0};
      const Result<double> q = run(named("from_rotation_vector", level), inputs, strides, 1, false, 0);
      worst_sine = std::max(worst_sine, std::abs(q.number(0, 0) - std::sin(x / 2)));
      worst_sine = std::max(worst_sine, std::abs(q.number(0, 3) - std::cos(x / 2)));
      if (x > 3.14) continue;
      std::vector<double> back[3] = {{q.number(0, 0), q.number(0, 1), q.number(0, 2), q.number(0, 3)}};
      const Result<double> v = run(named("to_rotation_vector", level), back, strides, 1, false, 0);
      worst_angle = std::max(worst_angle, std::abs(v.number(0, 0) - x));
    }
    CHECK(worst_sine < 2.3e-16);
    CHECK(worst_angle < 1e-15);
  }
}
