#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <atomic>
#include <new>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays.hpp"
#include "springs/springs.hpp"
#include "threads.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace bunraku {
namespace {

using springs::Motion;
using springs::System;

using Numbers = Array<const double, 2>;
using Indices = Array<const std::int32_t, 1>;
// What one character does: its system, translations, rotations, scales, tails.
using Job = std::tuple<const System&, Array<const double, 3>, Array<double, 3>, Array<const double, 3>,
                       Array<double, 3>>;

void require(bool condition, const std::string& what) {
  if (!condition) throw nb::value_error(what.c_str());
}

std::vector<std::int32_t> indices(const Indices& given, std::size_t begin, std::size_t end, std::size_t count,
                                  bool none, const char* name) {
  std::vector<std::int32_t> out(given.data() + begin, given.data() + end);
  for (const std::int32_t index : out) {
    require(index >= (none ? -1 : 0) && index < static_cast<std::int64_t>(count),
            std::string(name) + ": " + std::to_string(index) + ", but there are " + std::to_string(count));
  }
  return out;
}

// Where the piece of each of `count` owners begins and ends in a list of `length`.
void require_starts(const Indices& starts, std::size_t count, std::size_t length, const char* name) {
  const auto* const at = starts.data();
  require(starts.shape(0) == count + 1 && at[0] == 0 && at[count] == static_cast<std::int64_t>(length) &&
              std::is_sorted(at, at + count + 1),
          std::string(name) + ": expected " + std::to_string(count + 1) + " rising offsets up to " +
              std::to_string(length));
}

template <std::size_t N>
std::array<double, N> numbers(const double* from) {
  std::array<double, N> out;
  std::copy(from, from + N, out.begin());
  return out;
}

// Columns of `joint_numbers`: tail, stiffness, drag, radius, gravity, rest matrix, rest turn, axis.
constexpr std::size_t kJointNumbers = 3 + 3 + 3 + 12 + 4 + 3;
// Columns of `collider_numbers`: offset, second end or normal, radius.
constexpr std::size_t kColliderNumbers = 3 + 3 + 1;

void make_system(System* made, const Indices& parents, const Indices& order, const Array<const std::int32_t, 2>& joints,
                 const Numbers& joint_numbers, const Indices& path_starts, const Indices& paths,
                 const Indices& collider_starts, const Indices& collider_lists,
                 const Array<const std::int32_t, 2>& colliders, const Numbers& collider_numbers) {
  const std::size_t nodes = parents.shape(0), count = joints.shape(0), shapes = colliders.shape(0);
  require(order.shape(0) == nodes, "order: expected every node once");
  const std::size_t springs = collider_starts.shape(0) - 1;
  require(joints.shape(1) == 3, "joints: expected (node, center, spring)");
  require(joint_numbers.shape(0) == count && joint_numbers.shape(1) == kJointNumbers,
          "joint_numbers: expected a row of " + std::to_string(kJointNumbers) + " per joint");
  require(colliders.shape(1) == 3, "colliders: expected (node, shape, inside)");
  require(collider_numbers.shape(0) == shapes && collider_numbers.shape(1) == kColliderNumbers,
          "collider_numbers: expected a row of " + std::to_string(kColliderNumbers) + " per collider");
  require_starts(path_starts, count, paths.shape(0), "path_starts");
  require(collider_starts.shape(0) > 0, "collider_starts: expected at least one");
  require_starts(collider_starts, springs, collider_lists.shape(0), "collider_starts");

  System system;
  system.parents = indices(parents, 0, nodes, nodes, true, "parents");
  system.order = indices(order, 0, nodes, nodes, false, "order");
  std::vector<bool> done(nodes);
  for (const std::int32_t node : system.order) {
    const std::int32_t parent = system.parents[static_cast<std::size_t>(node)];
    require(!done[static_cast<std::size_t>(node)] && (parent < 0 || done[static_cast<std::size_t>(parent)]),
            "order: expected every node once, after its parent");
    done[static_cast<std::size_t>(node)] = true;
  }
  for (std::size_t i = 0; i < shapes; ++i) {
    const std::int32_t* const row = colliders.data() + 3 * i;
    const double* const at = collider_numbers.data() + kColliderNumbers * i;
    require(row[0] >= 0 && row[0] < static_cast<std::int64_t>(nodes) && row[1] >= 0 && row[1] <= 2,
            "colliders: node or shape out of range");
    system.colliders.push_back({row[0], static_cast<springs::Shape>(row[1]), row[2] != 0, numbers<3>(at),
                                numbers<3>(at + 3), at[6]});
  }
  std::vector<std::int32_t> rank(nodes);
  for (std::size_t i = 0; i < nodes; ++i) {
    rank[static_cast<std::size_t>(system.order[i])] = static_cast<std::int32_t>(i);
  }
  const auto place = [&](std::int32_t i) {
    return rank[static_cast<std::size_t>(system.colliders[static_cast<std::size_t>(i)].node)];
  };
  system.colliders_by_node.resize(shapes);
  std::iota(system.colliders_by_node.begin(), system.colliders_by_node.end(), 0);
  std::stable_sort(system.colliders_by_node.begin(), system.colliders_by_node.end(),
                   [&](std::int32_t a, std::int32_t b) { return place(a) < place(b); });
  system.collider_ranks.resize(shapes);
  for (std::size_t i = 0; i < shapes; ++i) {
    system.collider_ranks[static_cast<std::size_t>(system.colliders_by_node[i])] = static_cast<std::int32_t>(i);
  }
  for (std::size_t i = 0; i < springs; ++i) {
    const auto* const list = collider_starts.data() + i;
    system.springs.push_back(indices(collider_lists, static_cast<std::size_t>(list[0]),
                                     static_cast<std::size_t>(list[1]), shapes, false, "collider_lists"));
  }
  system.joint_of.assign(nodes, -1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t* const row = joints.data() + 3 * i;
    const std::int32_t node = row[0], center = row[1], spring = row[2];
    require(node >= 0 && node < static_cast<std::int64_t>(nodes) && center >= -1 &&
                center < static_cast<std::int64_t>(nodes) && spring >= 0 && spring < static_cast<std::int64_t>(springs),
            "joints: node, center or spring out of range");
    std::int32_t& joint = system.joint_of[static_cast<std::size_t>(node)];
    require(joint < 0, "joints: expected a node once");
    joint = static_cast<std::int32_t>(i);
    const double* const at = joint_numbers.data() + kJointNumbers * i;
    const auto* const path = path_starts.data() + i;
    system.joints.push_back(
        {node, center,
         indices(paths, static_cast<std::size_t>(path[0]), static_cast<std::size_t>(path[1]), nodes, false, "paths"),
         numbers<3>(at), at[3], at[4], at[5], numbers<3>(at + 6),
         spring, numbers<12>(at + 9), numbers<4>(at + 21), numbers<3>(at + 25)});
  }
  new (made) System(std::move(system));
}

std::vector<Motion> motions(const std::vector<Job>& jobs) {
  std::vector<Motion> out;
  for (const auto& [system, translations, rotations, scales, tails] : jobs) {
    const std::size_t frames = translations.shape(0), nodes = system.parents.size();
    const auto fits = [&](const auto& array, std::size_t width) {
      return array.shape(0) == frames && array.shape(1) == nodes && array.shape(2) == width;
    };
    require(fits(translations, 3) && fits(rotations, 4) && fits(scales, 3),
            "expected (frames, " + std::to_string(nodes) + ") translations, rotations and scales");
    require(tails.shape(0) == 2 && tails.shape(1) == system.joints.size() && tails.shape(2) == 3,
            "tails: expected (2, " + std::to_string(system.joints.size()) + ", 3)");
    out.push_back({&system, static_cast<std::int64_t>(frames), translations.data(), rotations.data(), scales.data(),
                   tails.data()});
  }
  return out;
}

template <class Body>
void for_each(const std::vector<Motion>& all, const Body& body) {
  std::atomic<bool> out_of_memory{false};
  {
    const nb::gil_scoped_release released;
    parallel_for(static_cast<std::int64_t>(all.size()), 1, [&](std::int64_t begin, std::int64_t end) {
      try {
        for (std::int64_t i = begin; i < end; ++i) body(all[static_cast<std::size_t>(i)]);
      } catch (const std::bad_alloc&) {
        out_of_memory = true;  // must not leave a thread of the pool
      }
    });
  }
  if (out_of_memory) throw std::bad_alloc();
}

void start(const std::vector<Job>& jobs) {
  const auto all = motions(jobs);
  for (const Motion& motion : all) require(motion.frames > 0, "expected a frame to start from");
  for_each(all, [](const Motion& motion) { springs::start(motion); });
}

void run(const std::vector<Job>& jobs, double dt) {
  for_each(motions(jobs), [dt](const Motion& motion) { springs::run(motion, dt); });
}

}  // namespace

void bind_springs(nb::module_& m) {
  nb::class_<System>(m, "System")
      .def("__init__", &make_system, "parents"_a.noconvert(), "order"_a.noconvert(), "joints"_a.noconvert(),
           "joint_numbers"_a.noconvert(), "path_starts"_a.noconvert(), "paths"_a.noconvert(),
           "collider_starts"_a.noconvert(), "collider_lists"_a.noconvert(), "colliders"_a.noconvert(),
           "collider_numbers"_a.noconvert())
      .def_prop_ro("joint_count", [](const System& system) { return system.joints.size(); });
  m.def("start", &start, "jobs"_a, "Tails at rest in the first frame of each job, and its joints at rest.");
  m.def("run", &run, "jobs"_a, "dt"_a, "A step per frame of each job: rotations and tails are replaced.");
}

}  // namespace bunraku
