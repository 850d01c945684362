#include "sdef/prepare.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"

using namespace bunraku;

namespace {

// A vertex of each kind between a joint that stays and one that turns by 90°, in many frames; the
// outputs have a vertex before and after them that must stay as it is.
std::vector<float> bent(std::int64_t frames, Level level) {
  SdefVertices vertices;
  const std::int32_t slots[2] = {0, 2};
  const float halves[2] = {0.5f, 0.5f}, center[3] = {1, 0, 0};
  vertices.add_spherical(1, slots, halves, center, center, center);
  vertices.add_dual(2, slots, halves);
  const std::vector<float> still{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, turned{0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0};
  std::vector<float> palette;
  for (std::int64_t f = 0; f < frames; ++f) {
    for (const auto* const matrix : {&still, &still, f % 3 == 1 ? &still : &turned}) {
      palette.insert(palette.end(), matrix->begin(), matrix->end());
    }
  }
  const std::vector<float> positions{2, 1, 0, 2, 1, 0}, normals{0, 1, 0, 0, 1, 0}, tangents{1, 0, 0, -1, 1, 0, 0, 1};
  std::vector<float> out(static_cast<std::size_t>(frames) * 40, -7);
  SdefJob job{};
  job.vertices = vertices.view();
  job.frames = frames;
  job.palette_joints = 3;
  job.palette = palette.data();
  job.positions = {positions.data(), 0};
  job.normals = {normals.data(), 0};
  job.tangents = {tangents.data(), 0};
  float* const data = out.data();
  job.out_positions = {data, 12};
  job.out_normals = {data + frames * 12, 12};
  job.out_tangents = {data + frames * 24, 16};
  bend(job, level);
  return out;
}

}  // namespace

TEST(special_vertices_turn_about_their_centre_and_leave_the_others_alone) {
  const float root = std::sqrt(2.0f);
  for (const Level level : available_levels()) {
    const std::vector<float> out = bent(1, level);
    const float expected[12] = {-7, -7, -7, 0.5f, 0.5f + root, 0, root / 2, 3 * root / 2, 0, -7, -7, -7};
    for (std::size_t i = 0; i < 12; ++i) CHECK(std::abs(out[i] - expected[i]) < 1e-6f);
    for (const std::size_t x : {15, 18}) {
      CHECK(std::abs(out[x] + root / 2) < 1e-6f);
      CHECK(std::abs(out[x + 1] - root / 2) < 1e-6f);
    }
    CHECK(out[24 + 7] == -1 && out[24 + 11] == 1);
  }
}

TEST(special_vertices_are_the_same_bits_at_every_level_and_however_many_frames) {
  const std::vector<float> expected = bent(67, Level::baseline);
  for (const Level level : available_levels()) {
    const std::vector<float> found = bent(67, level);
    CHECK(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) == 0);
    const std::vector<float> few = bent(3, level);
    CHECK(std::memcmp(few.data(), expected.data(), 36 * sizeof(float)) == 0);
  }
}
