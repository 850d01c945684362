#include "springs/springs.hpp"

#include <cmath>
#include <cstddef>
#include <vector>

#include "check.hpp"

using namespace bunraku;

namespace {

// A root, a rod of length 1 along x under it, and its tip; arrays of exactly the size they need.
struct Rod {
  springs::System system;
  std::vector<double> translations, rotations, scales, tails;
  std::int64_t frames;

  explicit Rod(std::int64_t count, std::vector<springs::Collider> colliders = {}) : tails(6), frames(count) {
    system.parents = {-1, 0, 1};
    system.order = {0, 1, 2};
    system.joint_of = {-1, 0, -1};
    system.springs.push_back({});
    for (std::size_t i = 0; i < colliders.size(); ++i) system.springs[0].push_back(static_cast<std::int32_t>(i));
    system.colliders_by_node = system.collider_ranks = system.springs[0];  // all on the root
    system.colliders = std::move(colliders);
    system.joints.push_back({1, -1, {2}, {0, 0, 0}, 0.0, 0.5, 0.05, {0, -2, 0}, 0, {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                             {0, 0, 0, 1}, {1, 0, 0}});
    for (std::int64_t i = 0; i < frames; ++i) {
      for (const double x : {0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0}) translations.push_back(x);
      for (int node = 0; node < 3; ++node) {
        for (const double x : {0.0, 0.0, 0.0, 1.0}) rotations.push_back(x);
        scales.insert(scales.end(), 3, 1.0);
      }
    }
  }

  springs::Motion motion() {
    return {&system, frames, translations.data(), rotations.data(), scales.data(), tails.data()};
  }
};

double length(const double* v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

}  // namespace

TEST(a_rod_keeps_its_length_and_hangs_in_the_end) {
  Rod rod(600);
  springs::start(rod.motion());
  CHECK(rod.tails == std::vector<double>({1, 0, 0, 1, 0, 0}));
  springs::run(rod.motion(), 1.0 / 60);
  CHECK(std::abs(length(rod.tails.data()) - 1) < 1e-14);
  CHECK(rod.tails[1] < -0.999);
  // The rotation turns x onto the tail: the rod's own axis hangs down.
  const double* const q = &rod.rotations[static_cast<std::size_t>(4 * (3 * (rod.frames - 1) + 1))];
  CHECK(std::abs(1 - 2 * (q[1] * q[1] + q[2] * q[2]) - rod.tails[0]) < 1e-14);
  CHECK(std::abs(2 * (q[0] * q[1] + q[2] * q[3]) - rod.tails[1]) < 1e-14);
}

TEST(colliders_of_every_shape_keep_tails_out_or_in) {
  using springs::Shape;
  const springs::Collider shapes[] = {{0, Shape::sphere, false, {0, -1, 0}, {}, 0.3},
                                      {0, Shape::capsule, false, {0.2, -1, 0}, {-0.2, -1, 0}, 0.3},
                                      {0, Shape::plane, false, {0, -0.8, 0}, {0, 3, 0}, 0},
                                      {0, Shape::sphere, true, {1, 0, 0}, {}, 0.6},
                                      {0, Shape::capsule, true, {1, 0, 0.1}, {1, 0, -0.1}, 0.6}};
  for (const springs::Collider& shape : shapes) {
    Rod rod(600, {shape});
    springs::start(rod.motion());
    springs::run(rod.motion(), 1.0 / 60);
    CHECK(rod.tails[1] > -0.97);
    CHECK(std::abs(length(rod.tails.data()) - 1) < 1e-14);
  }
}

TEST(a_motion_of_no_frames_changes_nothing) {
  Rod rod(0);
  springs::run(rod.motion(), 1.0 / 60);
  CHECK(rod.tails == std::vector<double>(6));
}
