#include "skinning/prepare.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "check.hpp"
#include "level.hpp"
#include "threads.hpp"

using namespace bunraku;

namespace {

struct Figure {
  std::int64_t frames, vertices, joints, width;
  std::vector<std::int32_t> slots;
  std::vector<float> weights, palette, positions, normals, tangents, mix;
};

// Every kind of matrix: rigid, scaled, mirrored, sheared and collapsed.
Figure figure(std::int64_t frames, std::int64_t vertices, std::int64_t joints, std::int64_t width) {
  std::mt19937 random(static_cast<unsigned>(frames * 1000 + vertices * 10 + width));
  std::uniform_real_distribution<float> value(-1, 1);
  Figure f{frames, vertices, joints, width, {}, {}, {}, {}, {}, {}, {}};
  const auto fill = [&](std::vector<float>& list, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) list.push_back(value(random));
  };
  for (std::int64_t i = 0; i < vertices * width; ++i) {
    f.slots.push_back(static_cast<std::int32_t>(random() % static_cast<unsigned>(joints)));
    f.weights.push_back(i / width == 3 ? 0.0f : std::abs(value(random)));
  }
  fill(f.palette, frames * joints * 12);
  for (std::int64_t m = 0; m < frames * joints; m += 5) {
    for (const int at : {0, 1, 2, 4, 5, 6, 8, 9, 10}) f.palette[static_cast<std::size_t>(m * 12 + at)] = 0;
  }
  fill(f.positions, vertices * 3);
  fill(f.normals, vertices * 3);
  fill(f.tangents, vertices * 4);
  for (std::int64_t v = 0; v < vertices; ++v) f.mix.push_back(std::abs(value(random)));
  return f;
}

struct Result {
  std::vector<float> positions, normals, tangents;

  bool same(const Result& other) const {
    const auto equal = [](const std::vector<float>& a, const std::vector<float>& b) {
      return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
    };
    return equal(positions, other.positions) && equal(normals, other.normals) &&
           equal(tangents, other.tangents);
  }
};

// Frames [first, first + count) at one level, one task after another.
Result bend(const Figure& f, Method method, Level level, std::int64_t first, std::int64_t count,
            bool oriented = true) {
  const Influences influences(f.slots, f.weights, f.vertices, f.width);
  const Panels panels(influences);
  Result result;
  const auto room = [&](std::int64_t width) {
    return std::vector<float>(static_cast<std::size_t>(count * f.vertices * width));
  };
  result = {room(3), room(3), room(4)};
  DeformJob job{};
  job.method = method;
  job.frames = count;
  job.vertices = f.vertices;
  job.joints = f.joints;
  job.palette = f.palette.data() + first * f.joints * 12;
  job.influences = influences.view();
  job.panels = panels.view();
  job.positions = f.positions.data();
  job.normals = oriented ? f.normals.data() : nullptr;
  job.tangents = oriented ? f.tangents.data() : nullptr;
  job.mix = f.mix.data();
  job.out_positions = {result.positions.data(), f.vertices * 3};
  job.out_normals = {result.normals.data(), f.vertices * 3};
  job.out_tangents = {result.tangents.data(), f.vertices * 4};
  deform(job, level);
  return result;
}

bool refuses(std::vector<std::int32_t> slots, std::vector<float> weights) {
  try {
    const Influences influences(slots, weights, 1, static_cast<std::int64_t>(slots.size()));
  } catch (const std::invalid_argument&) {
    return true;
  }
  return false;
}

}  // namespace

TEST(influences_refuse_what_they_cannot_be) {
  CHECK(refuses({-1}, {1.0f}));
  CHECK(refuses({0}, {-0.5f}));
  CHECK(refuses({0}, {std::numeric_limits<float>::quiet_NaN()}));
  CHECK(refuses({0}, {std::numeric_limits<float>::infinity()}));
}

TEST(active_morphs_refuse_a_vertex_out_of_range) {
  for (const std::int32_t vertex : {-1, 3}) {
    const std::vector<std::int32_t> vertices{vertex};
    const std::vector<MorphDeltas> targets{{vertices, nullptr, nullptr, nullptr}};
    bool refused = false;
    try {
      const ActiveMorphs morphs(targets, 3);
    } catch (const std::invalid_argument&) {
      refused = true;
    }
    CHECK(refused);
  }
}

TEST(influences_are_merged_sorted_and_scaled) {
  const std::vector<std::int32_t> slots{7, 2, 7, 5, 0, 0, 0, 0};
  const std::vector<float> weights{1, 1, 1, 0, 0, 0, 0, 0};
  const Influences influences(slots, weights, 2, 4);
  CHECK(influences.joints == 8);
  CHECK((influences.order == std::vector<std::int32_t>{1, 0}));  // fewer influences first
  CHECK((influences.slots == std::vector<std::int32_t>{0, 3, 8}));
  CHECK((influences.weights == std::vector<float>{1.0f, 1.0f / 3, 2.0f / 3}));
  CHECK((influences.heaviest == std::vector<std::int32_t>{8, 0}));
}

TEST(equal_weights_make_the_lowest_slot_the_heaviest) {
  const std::vector<std::int32_t> slots{4, 1, 2};
  const std::vector<float> weights{0.25f, 0.375f, 0.375f};
  CHECK(Influences(slots, weights, 1, 3).heaviest[0] == 2);
}

TEST(results_are_the_same_bits_at_every_level_and_in_every_batch) {
  for (const Method method : {Method::lbs, Method::dqs, Method::mixed}) {
    for (const std::int64_t width : {1, 4, 19}) {
      const Figure f = figure(13, 41, 23, width);
      const Result all = bend(f, method, Level::baseline, 0, f.frames);
      for (const float x : all.positions) CHECK(std::isfinite(x));
      for (const float x : all.normals) CHECK(std::isfinite(x));
      for (const float x : all.tangents) CHECK(std::isfinite(x));
      for (const Level level : available_levels()) {
        CHECK(all.same(bend(f, method, level, 0, f.frames)));
        const Result one = bend(f, method, level, 6, 1);
        const auto frame = static_cast<std::size_t>(6 * f.vertices);
        CHECK(std::memcmp(one.positions.data(), all.positions.data() + frame * 3, one.positions.size() * 4) == 0);
        CHECK(std::memcmp(one.normals.data(), all.normals.data() + frame * 3, one.normals.size() * 4) == 0);
        CHECK(std::memcmp(one.tangents.data(), all.tangents.data() + frame * 4, one.tangents.size() * 4) == 0);
      }
    }
  }
}

// Neighbours share joints as on a figure, except for the last 64 vertices.
Figure limbs(std::int64_t frames, std::int64_t vertices) {
  Figure f = figure(frames, vertices, 40, 3);
  for (std::int64_t v = 0; v + 64 < vertices; ++v) {
    for (std::int64_t k = 0; k < 3; ++k) f.slots[static_cast<std::size_t>(3 * v + k)] = static_cast<std::int32_t>(v / 20 + k);
  }
  return f;
}

TEST(panels_hold_neighbours_and_leave_the_scattered) {
  const Figure f = limbs(1, 137);
  const Influences influences(f.slots, f.weights, f.vertices, f.width);
  const Panels panels(influences);
  CHECK(panels.panels.size() == 10);
  CHECK(panels.scattered);
  CHECK(panels.panels[0].width > 0 && panels.panels[0].width <= 5);
  CHECK(panels.panels[6].width == 0);
  float sum = 0;
  for (int j = 0; j < panels.panels[1].width; ++j) {
    sum += panels.weights[static_cast<std::size_t>(panels.panels[1].weights + j * kPanelVertices + 5)];
  }
  CHECK(std::abs(sum - 1) < 1e-6f);
}

TEST(points_have_the_same_bits_in_every_batch_and_nearly_at_every_level) {
  const Figure f = limbs(13, 137);
  const Result oriented = bend(f, Method::lbs, Level::baseline, 0, f.frames);
  for (const Level level : available_levels()) {
    const Result all = bend(f, Method::lbs, level, 0, f.frames, false);
    for (std::size_t i = 0; i < all.positions.size(); ++i) {
      CHECK(std::abs(all.positions[i] - oriented.positions[i]) < 2e-6f);
    }
    for (std::int64_t frame = 0; frame < f.frames; ++frame) {
      for (const std::int64_t count : {1, 3, 5, 8}) {
        if (frame + count > f.frames) continue;
        const Result some = bend(f, Method::lbs, level, frame, count, false);
        const auto at = static_cast<std::size_t>(frame * f.vertices * 3);
        CHECK(std::memcmp(some.positions.data(), all.positions.data() + at, some.positions.size() * 4) == 0);
      }
    }
    // Every vertex on its own is scattered, and takes the other ways.
    Figure mixed = f;
    for (std::int64_t v = 0; v < f.vertices; ++v) {
      const std::int64_t from = v % 2 == 0 ? v : f.vertices - 1 - (v - 1);
      for (std::int64_t k = 0; k < 3; ++k) {
        const auto to = static_cast<std::size_t>(3 * v + k), at = static_cast<std::size_t>(3 * from + k);
        mixed.slots[to] = f.slots[at];
        mixed.weights[to] = f.weights[at];
        mixed.positions[to] = f.positions[at];
      }
    }
    for (const std::int64_t count : {1, 13}) {
      const Result other = bend(mixed, Method::lbs, level, 0, count, false);
      for (std::int64_t at = 0; at < count; ++at) {
        for (std::int64_t v = 0; v < f.vertices; v += 2) {
          const auto i = static_cast<std::size_t>((at * f.vertices + v) * 3);
          CHECK(std::memcmp(&other.positions[i], &all.positions[i], 12) == 0);
        }
      }
    }
  }
}

TEST(thread_counts_do_not_change_a_bit) {
  const Figure f = figure(9, 5000, 11, 3);
  set_thread_count(1);
  const Result one = bend(f, Method::dqs, active_level(), 0, f.frames);
  set_thread_count(3);
  CHECK(one.same(bend(f, Method::dqs, active_level(), 0, f.frames)));
  set_thread_count(0);
}

TEST(one_number_that_is_not_finite_is_found_wherever_it_stands) {
  using Limits = std::numeric_limits<float>;
  std::vector<float> numbers(37);
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    for (const float bad : {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN(), -Limits::quiet_NaN()}) {
      numbers[i] = bad;
      CHECK(!all_finite(numbers));
    }
    const float extremes[] = {Limits::max(), Limits::lowest(), Limits::denorm_min(), -0.0f};
    numbers[i] = extremes[i % 4];
    CHECK(all_finite(numbers));
  }
  CHECK(all_finite({}));
}

TEST(nothing_is_written_for_no_frames_or_no_vertices) {
  for (const auto& [frames, vertices] : {std::pair<int, int>{0, 5}, {3, 0}}) {
    const Figure f = figure(frames, vertices, 2, 1);
    CHECK(bend(f, Method::lbs, active_level(), 0, frames).positions.empty());
  }
}
