#include "kinematics/kinematics.hpp"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "kinematics/prepare.hpp"

using namespace bunraku;

namespace {

// A hierarchy in which every child stands before its parent; arrays of exactly the size they
// need, so that the sanitizer sees a read or write beyond them.
template <class T>
struct Motion {
  std::int64_t frames, nodes;
  std::vector<T> translations, rotations, scales;
  std::vector<std::int32_t> parents, order;

  Motion(std::int64_t f, std::int64_t n) : frames(f), nodes(n) {
    std::mt19937 random(static_cast<unsigned>(31 * f + n));
    std::uniform_real_distribution<T> number(-1, 1);
    for (std::int64_t i = 0; i < f * n; ++i) {
      T q[4], length = 0;
      for (T& x : q) x = number(random), length += x * x;
      for (const T x : q) rotations.push_back(x / std::sqrt(length));
      for (int c = 0; c < 3; ++c) translations.push_back(number(random)), scales.push_back(number(random));
    }
    for (std::int32_t i = 0; i < n; ++i) {
      parents.push_back(i + 1 == n ? -1 : i + 1 + static_cast<std::int32_t>(random() % static_cast<unsigned>(n - 1 - i)));
      order.push_back(static_cast<std::int32_t>(n) - 1 - i);
    }
  }

  // In two runs, of `before` frames and the rest.
  std::vector<T> globals(const HierarchyKernel<T>& kernel, std::int64_t before = 0) const {
    std::vector<T> out(static_cast<std::size_t>(frames * nodes * 12));
    const HierarchyPlan plan = plan_hierarchy(parents, order);
    std::vector<T> scratch(static_cast<std::size_t>(kernel.scratch_size(nodes, plan.slots)));
    const HierarchyJob<T> job{translations.data(), rotations.data(), scales.data(), plan.steps.data(),
                              frames,              nodes,            plan.slots,    out.data()};
    kernel.run(job, 0, before, scratch.data());
    kernel.run(job, before, frames, scratch.data());
    return out;
  }
};

template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0);
}

template <class T>
bool close(const std::vector<T>& a, const std::vector<T>& b, T tolerance) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!(std::abs(a[i] - b[i]) <= tolerance)) return false;
  }
  return true;
}

// Turns v by q and scales, then moves it: one node's local transform, applied to a point.
void apply(const double* t, const double* q, const double* s, double v[3]) {
  const double p[3] = {v[0] * s[0], v[1] * s[1], v[2] * s[2]};
  const double c[3] = {q[1] * p[2] - q[2] * p[1] + q[3] * p[0], q[2] * p[0] - q[0] * p[2] + q[3] * p[1],
                       q[0] * p[1] - q[1] * p[0] + q[3] * p[2]};
  v[0] = t[0] + p[0] + 2 * (q[1] * c[2] - q[2] * c[1]);
  v[1] = t[1] + p[1] + 2 * (q[2] * c[0] - q[0] * c[2]);
  v[2] = t[2] + p[2] + 2 * (q[0] * c[1] - q[1] * c[0]);
}

}  // namespace

TEST(globals_move_points_through_every_ancestor) {
  const Motion<double> motion(7, 12);
  const auto globals = motion.globals(kinematics_kernels_at(Level::baseline).globals_double);
  double worst = 0;
  for (std::int64_t f = 0; f < motion.frames; ++f) {
    for (std::int64_t n = 0; n < motion.nodes; ++n) {
      double v[3] = {0.3, -1, 2};
      for (std::int64_t at = n; at >= 0; at = motion.parents[static_cast<std::size_t>(at)]) {
        const std::int64_t i = f * motion.nodes + at;
        apply(&motion.translations[static_cast<std::size_t>(3 * i)], &motion.rotations[static_cast<std::size_t>(4 * i)],
              &motion.scales[static_cast<std::size_t>(3 * i)], v);
      }
      const double* const m = &globals[static_cast<std::size_t>(12 * (f * motion.nodes + n))];
      for (int r = 0; r < 3; ++r) {
        const double* const row = m + 4 * r;
        worst = std::max(worst, std::abs(row[0] * 0.3 - row[1] + row[2] * 2 + row[3] - v[r]));
      }
    }
  }
  CHECK(worst < 1e-14);
}

TEST(a_slot_is_kept_until_the_last_child) {
  //      0 ┬ 1 ── 3
  //        └ 2 ┬ 4
  //            └ 5
  const std::int32_t parents[] = {-1, 0, 0, 1, 2, 2}, order[] = {0, 1, 3, 2, 4, 5};
  const HierarchyPlan plan = plan_hierarchy(parents, order);
  CHECK(plan.slots == 2);
  const HierarchyStep expected[] = {{0, -1, 0}, {1, 0, 1}, {3, 1, -1}, {2, 0, 1}, {4, 1, -1}, {5, 1, -1}};
  CHECK(plan.steps.size() == 6);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const HierarchyStep step = plan.steps[i];
    CHECK(step.node == expected[i].node && step.above == expected[i].above && step.kept == expected[i].kept);
  }
}

TEST(a_plan_is_remembered_as_long_as_nobody_asks_for_another) {
  std::vector<std::int32_t> parents = {-1, 0, 1};
  const std::vector<std::int32_t> order = {0, 1, 2};
  const auto above = [&](std::size_t step) { return known_plan(parents, order).steps[step].above; };
  const HierarchyStep* const first = known_plan(parents, order).steps.data();
  CHECK(known_plan(parents, order).steps.data() == first);
  CHECK(above(1) == 0 && above(2) == 1);
  parents[2] = -1;                        // the same array, another hierarchy
  CHECK(above(1) == 0 && above(2) == -1);
  parents[1] = 2;
  bool refused = false;
  try {
    known_plan(parents, order);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
  parents[1] = 0;
  CHECK(above(1) == 0 && above(2) == -1);
  CHECK(known_plan({}, {}).steps.empty());
}

TEST(globals_of_a_frame_are_the_same_bits_among_any_others) {
  for (const Level level : available_levels()) {
    for (const std::int64_t nodes : {1, 2, 5, 40}) {
      const Motion<float> narrow(31, nodes);
      const Motion<double> wide(31, nodes);
      const auto& kernels = kinematics_kernels_at(level);
      const auto floats = narrow.globals(kernels.globals_float);
      const auto doubles = wide.globals(kernels.globals_double);
      for (const std::int64_t before : {1, 2, 3, 4, 5, 8, 9, 30}) {
        CHECK(same_bits(floats, narrow.globals(kernels.globals_float, before)));
        CHECK(same_bits(doubles, wide.globals(kernels.globals_double, before)));
      }
    }
  }
}

// Some levels round products and sums at once, some one after the other.
TEST(globals_differ_in_their_last_bits_between_levels) {
  for (const std::int64_t frames : {0, 1, 2, 3, 4, 5, 8, 9, 31}) {
    for (const std::int64_t nodes : {1, 2, 5, 40}) {
      const Motion<float> narrow(frames, nodes);
      const Motion<double> wide(frames, nodes);
      const auto floats = narrow.globals(kinematics_kernels_at(Level::baseline).globals_float);
      const auto doubles = wide.globals(kinematics_kernels_at(Level::baseline).globals_double);
      for (const Level level : available_levels()) {
        CHECK(close(floats, narrow.globals(kinematics_kernels_at(level).globals_float), 2e-6f));
        CHECK(close(doubles, wide.globals(kinematics_kernels_at(level).globals_double), 4e-15));
      }
    }
  }
}

TEST(a_palette_is_the_product_rounded_once) {
  const Motion<double> motion(5, 9);
  const auto globals = motion.globals(kinematics_kernels_at(Level::baseline).globals_double);
  const std::vector<std::int32_t> joints{8, 0, 3, 3};
  std::vector<double> inverse_binds;
  for (int i = 0; i < 4 * 16; ++i) inverse_binds.push_back(i % 16 < 12 ? std::sin(i) : (i % 16 == 15 ? 1 : 0));
  for (const Level level : available_levels()) {
    std::vector<float> out(static_cast<std::size_t>(motion.frames) * 4 * 12);
    kinematics_kernels_at(level).palette(
        {globals.data(), joints.data(), inverse_binds.data(), motion.nodes, 4, out.data()}, 0, motion.frames);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const std::size_t frame = i / 48, joint = i / 12 % 4, row = i / 4 % 3, column = i % 4;
      const double* const g = &globals[(frame * 9 + static_cast<std::size_t>(joints[joint])) * 12 + 4 * row];
      const double* const b = &inverse_binds[16 * joint];
      const double product = g[0] * b[column] + g[1] * b[4 + column] + g[2] * b[8 + column] + (column == 3 ? g[3] : 0);
      CHECK(out[i] == static_cast<float>(product));
    }
  }
}
