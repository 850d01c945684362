#include "sampling/sampling.hpp"

#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "check.hpp"

using namespace bunraku;

namespace {

struct Track {
  TrackKind kind;
  std::vector<double> times;
  std::vector<double> rows;
  std::int64_t width;
};

// Samples one track into a frame of `width` numbers between two others, which must stay at rest.
std::vector<double> sample(const Track& track, const std::vector<double>& times, Level level) {
  const std::vector<std::int64_t> starts{0, static_cast<std::int64_t>(track.times.size())};
  const SampledTrack sampled{0, static_cast<std::int64_t>(track.kind), 0, 1, 1, track.width};
  const std::vector<double> rest(static_cast<std::size_t>(track.width + 2), -7);
  std::vector<double> out(times.size() * rest.size());
  SamplingJob job{track.times.data(), starts.data(), track.rows.data(), &sampled, 1, times.data(), {}};
  job.outputs[1] = {rest.data(), out.data(), track.width + 2};
  sampling_kernels_at(level).sample(job, 0, static_cast<std::int64_t>(times.size()));
  std::vector<double> values;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::size_t column = i % rest.size();
    if (column == 0 || column + 1 == rest.size()) {
      CHECK(out[i] == -7);
    } else {
      values.push_back(out[i]);
    }
  }
  return values;
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

using Numbers = std::vector<double>;

}  // namespace

TEST(steps_hold_and_lines_rise) {
  const Track step{TrackKind::step, {0, 1, 3}, {5, 6, 7}, 1};
  const Track line{TrackKind::linear, {0, 1, 3}, {5, 6, 8}, 1};
  const Numbers times{-1, 0, 0.5, 0.9999995, 2, 3, 9};
  for (const Level level : available_levels()) {
    CHECK(same_bits(sample(step, times, level), {5, 5, 5, 6, 6, 7, 7}));
    CHECK(same_bits(sample(line, times, level), {5, 5, 5.5, 6, 7, 8, 8}));
  }
}

TEST(a_track_of_one_key_holds_it) {
  const Numbers times{-3, 0, 2, 2.0000005, 5};
  for (const Level level : available_levels()) {
    CHECK(same_bits(sample({TrackKind::cubic, {2}, {9, 4, 9}, 1}, times, level), {4, 4, 4, 4, 4}));
    CHECK(same_bits(sample({TrackKind::slerp, {2}, {0, 0, 0, 1, 0, 1}, 4}, {0.5}, level), {0, 0, 0, 1}));
  }
}

TEST(of_keys_closer_than_a_microsecond_the_nearer_counts) {
  const Track line{TrackKind::linear, {0, 4e-7}, {1, 2}, 1};
  for (const Level level : available_levels()) {
    CHECK(same_bits(sample(line, {1e-7, 2e-7, 3e-7}, level), {1, 1, 2}));
  }
}

TEST(slerp_turns_evenly) {
  const double angle = std::acos(-1.0) / 3;
  const double ratio = angle / std::sin(angle);
  const Track turn{TrackKind::slerp,
                   {0, 1},
                   {0, 0, 0, 1, angle * angle, -ratio, 0, 0, -std::sin(angle), -std::cos(angle), 0, 1},
                   4};
  for (const Level level : available_levels()) {
    for (int i = 0; i <= 64; ++i) {
      const double u = i / 64.0;
      const Numbers q = sample(turn, {u}, level);
      const double sign = i == 64 ? -1 : 1;  // on a key its stored sign, before it the shorter arc
      CHECK(std::abs(q[2] - sign * std::sin(u * angle)) < 4e-16 && std::abs(q[3] - sign * std::cos(u * angle)) < 4e-16);
    }
  }
}

TEST(a_cubic_rotation_that_vanishes_is_the_nearer_key) {
  const Track flip{TrackKind::cubic_rotation, {0, 1}, {0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0,
                                                       0, 0, 0, 0, 0, 0, 0, -2, 0, 0, 0, 0}, 4};
  for (const Level level : available_levels()) {
    CHECK(same_bits(sample(flip, {0.25, 0.5, 0.75}, level), {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, -1}));
  }
}

TEST(samples_are_the_same_bits_at_every_level_and_in_any_order) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> number(-1, 1);
  for (std::int64_t kind = 0; kind < kTrackKinds; ++kind) {
    const auto k = static_cast<TrackKind>(kind);
    const bool turns = k == TrackKind::slerp || k == TrackKind::cubic_rotation || k == TrackKind::bezier_slerp;
    for (const std::int64_t width : {3, 4, 7}) {
      if (width != 4 && turns) continue;
      for (const int keys : {1, 2, 3, 17}) {
        Track track{k, {}, {}, width};
        for (int i = 0; i < keys; ++i) track.times.push_back(0.1 * i + 0.04 * number(random));
        for (std::int64_t i = 0; i < keys * row_length(k, width); ++i) track.rows.push_back(number(random));
        Numbers times;
        for (int i = 0; i < 75; ++i) times.push_back(0.03 * i - 0.2);
        const Numbers expected = sample(track, times, Level::baseline);
        const Numbers backwards(times.rbegin(), times.rend());
        for (const Level level : available_levels()) {
          CHECK(same_bits(expected, sample(track, times, level)));
          const Numbers reversed = sample(track, backwards, level);
          for (std::size_t i = 0; i < expected.size(); ++i) {
            const std::size_t w = static_cast<std::size_t>(width);
            CHECK(expected[i] == reversed[(74 - i / w) * w + i % w]);
          }
        }
      }
    }
  }
}

TEST(curves_bend_the_time_and_keys_stay_exact) {
  // Key 1 is reached along y = x³ (x1 = ⅓, x2 = ⅔, y1 = y2 = 0), key 2 along a straight line.
  const double third = 1.0 / 3;
  const Track curve{TrackKind::bezier, {0, 1, 3}, {2, 9, 9, 9, 9, 4, third, 0, 2 * third, 0, 8, 0.5, 0.5, 0.7, 0.7}, 1};
  for (const Level level : available_levels()) {
    const Numbers values = sample(curve, {-1, 0, 0.5, 0.9999995, 1, 2, 3, 9}, level);
    CHECK(same_bits(values, {2, 2, values[2], 4, 4, 6, 8, 8}));
    CHECK(std::abs(values[2] - 2.25) < 1e-15);
  }
}

TEST(a_curved_rotation_is_an_even_one_at_another_time) {
  const double half = std::sqrt(0.5), angle2 = std::pow(std::acos(half), 2), ratio = std::acos(half) / half;
  const Track even{TrackKind::slerp, {0, 1}, {0, 0, 0, 1, angle2, ratio, 0, 0, half, half, 0, 1}, 4};
  const Track curved{TrackKind::bezier_slerp,
                     {0, 1},
                     {0, 0, 0, 1, angle2, ratio, 0, 0, 1, 1, 0, 0, half, half, 0, 1, 1.0 / 3, 0, 2.0 / 3, 0},
                     4};
  for (const Level level : available_levels()) {
    const Numbers a = sample(curved, {0.5, 0, 1}, level), b = sample(even, {0.125, 0, 1}, level);
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::abs(a[i] - b[i]) < 1e-15);
  }
}
