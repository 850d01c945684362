#include "rig/prepare.hpp"

#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "check.hpp"

using namespace bunraku;

namespace {

// A leg of three nodes, its goal, and a helper that takes half of the knee's turn.
struct Leg {
  std::vector<std::int32_t> parents{-1, 0, 1, -1, 0}, layers{0, 0, 0, 1, 0};
  std::vector<double> rest{0, 2, 0, 0, -1, 0.02, 0, -1, -0.02, 0, 0, 0, 0.1, 0, 0};
  bool late[5] = {};
  RigPlan plan() const {
    const GivenAppend half{4, 1, 0.5, true, false, false};
    const GivenChain chain{3, 2, 40, 2.0, {{1, true, {0.01, 0, 0}, {3, 0, 0}}, {0, false, {}, {}}}};
    return RigPlan(parents, rest, layers, late, std::span(&half, 1), std::span(&chain, 1));
  }
};

// Frames with goals all over the place, arrays of exactly the size they need.
std::vector<double> solved(const RigPlan& plan, const std::vector<double>& rest, std::int64_t frames, Level level,
                           bool keep_best) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> number(-1, 1);
  std::vector<double> translations, rotations, scales(static_cast<std::size_t>(frames) * rest.size(), 1.0);
  const std::unique_ptr<bool[]> ik(new bool[static_cast<std::size_t>(frames)]);
  for (std::int64_t f = 0; f < frames; ++f) {
    ik[static_cast<std::size_t>(f)] = f % 5 != 3;
    for (std::size_t i = 0; i < rest.size(); ++i) translations.push_back(rest[i] + (i / 3 == 3 ? number(random) : 0));
    for (std::size_t i = 0; i < rest.size() / 3; ++i) {
      const double half = 0.2 * number(random);
      for (const double x : {std::sin(half), 0.0, 0.0, std::cos(half)}) rotations.push_back(x);
    }
  }
  std::vector<double> out(static_cast<std::size_t>(frames) * rest.size() * 4);
  const RigJob job{plan.view(), translations.data(), rotations.data(), scales.data(), ik.get(), frames, keep_best, false,
                   out.data()};
  const RigKernels& kernels = rig_kernels_at(level);
  const auto bytes = static_cast<std::size_t>(kernels.scratch_bytes(job.rig));
  void* const scratch = ::operator new(bytes, std::align_val_t{64});
  kernels.run(job, 0, frames, scratch);
  ::operator delete(scratch, std::align_val_t{64});
  return out;
}

}  // namespace

TEST(rigs_give_the_same_bits_at_every_level_and_however_many_frames) {
  const Leg leg;
  const RigPlan plan = leg.plan();
  for (const bool keep_best : {false, true}) {
    const std::vector<double> expected = solved(plan, leg.rest, 23, Level::baseline, keep_best);
    for (const Level level : available_levels()) {
      for (const std::int64_t frames : {1, 2, 3, 7, 23}) {
        const std::vector<double> found = solved(plan, leg.rest, frames, level, keep_best);
        CHECK(std::memcmp(found.data(), expected.data(), found.size() * sizeof(double)) == 0);
      }
    }
  }
}

TEST(a_plan_computes_in_every_step_only_what_matters) {
  const RigPlan plan = Leg().plan();
  CHECK((plan.order == std::vector<std::int32_t>{0, 1, 2, 4, 3}));
  // The knee moves the foot; the hip the knee, the foot, and the helper beside them.
  CHECK((plan.refreshes == std::vector<std::int32_t>{~1, 2, ~0, 1, 2, 4}));
  CHECK(plan.settles.empty());
}
