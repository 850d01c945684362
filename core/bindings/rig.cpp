#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/arrays.hpp"
#include "rig/prepare.hpp"
#include "threads.hpp"

namespace nb = nanobind;

namespace bunraku {
namespace {

// Node frames a thread should have at least.
constexpr std::int64_t kGrain = 256;

void require(bool holds, const char* what) {
  if (!holds) throw std::invalid_argument(what);
}

template <class A>
auto span(const A& array) {
  return std::span(array.data(), array.size());
}

void make_plan(RigPlan* self, Array<const std::int32_t, 1> parents, Array<const double, 2> rest,
               Array<const std::int32_t, 1> layers, Array<const bool, 1> after_physics,
               Array<const std::int32_t, 2> append_nodes, Array<const double, 1> ratios,
               Array<const bool, 2> append_kinds, Array<const std::int32_t, 2> chain_nodes,
               Array<const double, 1> steps, Array<const std::int32_t, 1> link_nodes,
               Array<const double, 3> link_limits) {
  require(rest.shape(1) == 3, "rest: expected 3 columns");
  require(append_nodes.shape(1) == 2 && append_kinds.shape(1) == 3 && ratios.size() == append_nodes.shape(0) &&
              append_kinds.shape(0) == append_nodes.shape(0),
          "appends: expected (A, 2), (A,) and (A, 3)");
  require(chain_nodes.shape(1) == 4 && steps.size() == chain_nodes.shape(0), "chains: expected (C, 4) and (C,)");
  require(link_limits.shape(0) == link_nodes.size() && link_limits.shape(1) == 2 && link_limits.shape(2) == 3,
          "links: expected (L,) and (L, 2, 3)");
  std::vector<GivenAppend> appends;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const std::int32_t* const nodes = append_nodes.data() + 2 * i;
    const bool* const kinds = append_kinds.data() + 3 * i;
    appends.push_back({nodes[0], nodes[1], ratios.data()[i], kinds[0], kinds[1], kinds[2]});
  }
  std::vector<GivenChain> chains;
  std::size_t link = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::int32_t* const row = chain_nodes.data() + 4 * i;
    GivenChain chain{row[0], row[1], row[2], steps.data()[i], {}};
    require(row[3] >= 0 && static_cast<std::size_t>(row[3]) <= link_nodes.size() - link, "links: fewer than chains have");
    for (std::int32_t k = 0; k < row[3]; ++k, ++link) {
      GivenLink given{link_nodes.data()[link], !std::isnan(link_limits.data()[6 * link]), {}, {}};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        given.low[axis] = link_limits.data()[6 * link + axis];
        given.high[axis] = link_limits.data()[6 * link + 3 + axis];
      }
      chain.links.push_back(given);
    }
    chains.push_back(std::move(chain));
  }
  new (self) RigPlan(span(parents), span(rest), span(layers), span(after_physics), appends, chains);
}

void solve(const RigPlan& plan, Array<const double, 3> translations, Array<const double, 3> rotations,
           Array<const double, 3> scales, std::optional<Array<const bool, 2>> ik, bool keep_best, bool plain_step,
           Array<double, 4> out) {
  const std::size_t frames = translations.shape(0), nodes = plan.parents.size();
  const auto fits = [&](const auto& array, std::size_t width) {
    return array.shape(0) == frames && array.shape(1) == nodes && array.shape(2) == width;
  };
  require(fits(translations, 3) && fits(rotations, 4) && fits(scales, 3) && fits(out, 3) && out.shape(3) == 4,
          "expected (F, N, 3), (F, N, 4), (F, N, 3) and (F, N, 3, 4) of the plan's nodes");
  require(!ik || (ik->shape(0) == frames && ik->shape(1) == plan.chains.size()), "ik: expected (F, C)");
  const RigJob job{plan.view(),
                   translations.data(),
                   rotations.data(),
                   scales.data(),
                   ik ? ik->data() : nullptr,
                   static_cast<std::int64_t>(frames),
                   keep_best,
                   plain_step,
                   out.data()};
  const RigKernels& kernels = rig_kernels_at(active_level());
  const auto bytes = static_cast<std::size_t>(kernels.scratch_bytes(job.rig));
  constexpr std::align_val_t kAligned{64};
  std::atomic<bool> out_of_memory{false};
  {
    const nb::gil_scoped_release released;
    parallel_for(job.frames, kGrain / std::max<std::int64_t>(job.rig.nodes, 1), [&](std::int64_t begin, std::int64_t end) {
      void* const scratch = ::operator new(bytes, kAligned, std::nothrow);
      if (scratch == nullptr) {
        out_of_memory = true;  // must not throw on a thread of the pool
        return;
      }
      kernels.run(job, begin, end, scratch);
      ::operator delete(scratch, kAligned);
    });
  }
  if (out_of_memory) throw std::bad_alloc();
}

nb::object order(const RigPlan& plan) {
  auto* const copy = new std::vector<std::int32_t>(plan.order);
  const nb::capsule owner(copy, [](void* data) noexcept { delete static_cast<std::vector<std::int32_t>*>(data); });
  return nb::cast(nb::ndarray<nb::numpy, std::int32_t, nb::ndim<1>>(copy->data(), {copy->size()}, owner));
}

}  // namespace

void bind_rig(nb::module_& m) {
  nb::class_<RigPlan>(m, "Plan", "A rig on a skeleton, in the order in which it is evaluated.")
      .def("__init__", &make_plan,
           nb::arg("parents").noconvert(), nb::arg("rest").noconvert(), nb::arg("layers").noconvert(),
           nb::arg("after_physics").noconvert(), nb::arg("append_nodes").noconvert(), nb::arg("ratios").noconvert(),
           nb::arg("append_kinds").noconvert(), nb::arg("chain_nodes").noconvert(), nb::arg("steps").noconvert(),
           nb::arg("link_nodes").noconvert(), nb::arg("link_limits").noconvert())
      .def_prop_ro("order", &order, "(N,) int32 nodes in the order in which they are evaluated.");

  m.def("solve", &solve, nb::arg("plan"), nb::arg("translations").noconvert(), nb::arg("rotations").noconvert(),
        nb::arg("scales").noconvert(), nb::arg("ik").noconvert().none(), nb::arg("keep_best"), nb::arg("plain_step"),
        nb::arg("out").noconvert(), "Local transforms (frames, nodes, ·) to 3×4 global transforms.");
}

}  // namespace bunraku
