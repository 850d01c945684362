#include <nanobind/nanobind.h>

#include <algorithm>
#include <atomic>
#include <iterator>
#include <new>
#include <stdexcept>
#include <string>

#include "bindings/arrays.hpp"
#include "kinematics/kinematics.hpp"
#include "kinematics/prepare.hpp"
#include "threads.hpp"

namespace nb = nanobind;

namespace bunraku {
namespace {

using Indices = Array<const std::int32_t, 1>;

// Node frames a thread should have at least: computing them takes as long as waking it.
constexpr std::int64_t kGrain = 1024;

template <class Given>
void require_shape(const Given& array, std::initializer_list<std::size_t> shape, const char* name) {
  std::size_t axis = 0;
  for (const std::size_t length : shape) {
    if (array.shape(axis) != length) {
      throw std::invalid_argument(std::string(name) + ": expected length " + std::to_string(length) +
                                  " on axis " + std::to_string(axis) + ", found " +
                                  std::to_string(array.shape(axis)));
    }
    ++axis;
  }
}

template <class T>
void global_transforms(const HierarchyKernel<T>& kernel, const Array<const T, 3>& translations,
                       const Array<const T, 3>& rotations, const Array<const T, 3>& scales, const Indices& parents,
                       const Indices& order, const Array<T, 4>& out) {
  const std::size_t frames = translations.shape(0), nodes = parents.shape(0);
  require_shape(translations, {frames, nodes, 3}, "translations");
  require_shape(rotations, {frames, nodes, 4}, "rotations");
  require_shape(scales, {frames, nodes, 3}, "scales");
  require_shape(order, {nodes}, "order");
  require_shape(out, {frames, nodes, 3, 4}, "out");
  const HierarchyPlan& plan = known_plan({parents.data(), nodes}, {order.data(), nodes});
  const HierarchyJob<T> job{translations.data(),
                            rotations.data(),
                            scales.data(),
                            plan.steps.data(),
                            static_cast<std::int64_t>(frames),
                            static_cast<std::int64_t>(nodes),
                            plan.slots,
                            out.data()};
  const auto numbers = static_cast<std::size_t>(kernel.scratch_size(job.nodes, job.slots));
  const std::int64_t lanes = kernel.lanes, groups = (job.frames + lanes - 1) / lanes;
  std::atomic<bool> out_of_memory{false};
  {
    const nb::gil_scoped_release released;
    parallel_for(groups, kGrain / std::max<std::int64_t>(job.nodes * lanes, 1), [&](std::int64_t begin, std::int64_t end) {
      const std::int64_t last = std::min(end * lanes, job.frames);
      alignas(64) T few[16384 / sizeof(T)];
      if (numbers <= std::size(few)) return kernel.run(job, begin * lanes, last, few);
      constexpr std::align_val_t kAligned{64};
      void* const many = ::operator new(numbers * sizeof(T), kAligned, std::nothrow);
      if (many == nullptr) {
        out_of_memory = true;  // must not throw on a thread of the pool
        return;
      }
      kernel.run(job, begin * lanes, last, static_cast<T*>(many));
      ::operator delete(many, kAligned);
    });
  }
  if (out_of_memory) throw std::bad_alloc();
}

void palette(Array<const double, 4> globals, Indices joints, Array<const double, 3> inverse_binds, Array<float, 4> out) {
  const std::size_t frames = globals.shape(0), nodes = globals.shape(1), joint_count = joints.shape(0);
  require_shape(globals, {frames, nodes, 3, 4}, "globals");
  require_shape(inverse_binds, {joint_count, 4, 4}, "inverse_binds");
  require_shape(out, {frames, joint_count, 3, 4}, "out");
  for (std::size_t j = 0; j < joint_count; ++j) {
    if (joints.data()[j] < 0 || static_cast<std::size_t>(joints.data()[j]) >= nodes) {
      throw std::invalid_argument("joints[" + std::to_string(j) + "]: node " + std::to_string(joints.data()[j]) +
                                  ", but there are " + std::to_string(nodes));
    }
  }
  const PaletteJob job{globals.data(),
                       joints.data(),
                       inverse_binds.data(),
                       static_cast<std::int64_t>(nodes),
                       static_cast<std::int64_t>(joint_count),
                       out.data()};
  const auto run = kinematics_kernels_at(active_level()).palette;
  const nb::gil_scoped_release released;
  parallel_for(static_cast<std::int64_t>(frames), kGrain / std::max<std::int64_t>(job.joint_count, 1),
               [&](std::int64_t begin, std::int64_t end) { run(job, begin, end); });
}

template <class T>
void def_global_transforms(nb::module_& m, const HierarchyKernel<T>& kernel) {
  m.def(
      "global_transforms",
      [&kernel](Array<const T, 3> translations, Array<const T, 3> rotations, Array<const T, 3> scales, Indices parents,
                Indices order, Array<T, 4> out) {
        global_transforms(kernel, translations, rotations, scales, parents, order, out);
      },
      nb::arg("translations").noconvert(), nb::arg("rotations").noconvert(), nb::arg("scales").noconvert(),
      nb::arg("parents").noconvert(), nb::arg("order").noconvert(), nb::arg("out").noconvert(),
      "Local transforms (frames, nodes, ·) of one float type to 3×4 global transforms of that type.");
}

}  // namespace

void bind_kinematics(nb::module_& m) {
  const KinematicsKernels& kernels = kinematics_kernels_at(active_level());
  def_global_transforms(m, kernels.globals_double);
  def_global_transforms(m, kernels.globals_float);
  m.def("palette", &palette, nb::arg("globals").noconvert(), nb::arg("joints").noconvert(),
        nb::arg("inverse_binds").noconvert(), nb::arg("out").noconvert(),
        "Global transforms times inverse bind matrices, rounded to float32 once.");
}

}  // namespace bunraku
