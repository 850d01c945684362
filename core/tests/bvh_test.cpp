// Trees at every level: invalid input, then agreement between levels and with testing every
// primitive, over random scenes with all that breaks trees.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <vector>

#include "bvh/batch.hpp"
#include "bvh/overlap.hpp"
#include "bvh/tree.hpp"
#include "check.hpp"

namespace bunraku::bvh {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

struct Mesh {
  std::vector<float> vertices;
  std::vector<std::int32_t> faces;

  Source source() const {
    return {Kind::triangles, vertices.data(),
            nullptr,         faces.data(),
            static_cast<std::int64_t>(vertices.size() / 3), static_cast<std::int64_t>(faces.size() / 3)};
  }
};

using Random = std::mt19937;

float uniform(Random& random, float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(random);
}

int index(Random& random, int count) { return std::uniform_int_distribution<int>(0, count - 1)(random); }

// A number from the places where trees go wrong.
float awkward(Random& random) {
  constexpr std::array numbers{0.0f, -0.0f, 1.0f, -1.0f, 1e-45f, 1e-38f, 1e7f, 1e18f, 3e38f, kInfinity, -kInfinity, kNaN};
  return numbers[static_cast<std::size_t>(index(random, static_cast<int>(numbers.size())))];
}

Mesh soup(Random& random, int count, float size, int spoilt) {
  Mesh mesh;
  for (int i = 0; i < count; ++i) {
    const float at[3] = {uniform(random, -1, 1), uniform(random, -1, 1), uniform(random, -1, 1)};
    for (int c = 0; c < 3; ++c) {
      for (const float x : at) mesh.vertices.push_back(x + uniform(random, -size, size));
      mesh.faces.push_back(index(random, 8) == 0 ? index(random, 3 * count) : 3 * i + c);
    }
  }
  for (int i = 0; i < spoilt; ++i) {
    mesh.vertices[static_cast<std::size_t>(index(random, 9 * count))] = awkward(random);
  }
  return mesh;
}

struct Batch {
  std::vector<float> origins, directions;
  std::int64_t count;
  float t_min = 0, t_max = kInfinity;
  std::int32_t skip = -1;

  Batch(Random& random, std::int64_t rays, bool alike) : count(rays) {
    for (std::int64_t i = 0; i < rays; ++i) {
      for (int k = 0; k < 3; ++k) {
        const bool odd = index(random, 20) == 0;
        origins.push_back(odd ? awkward(random) : alike ? 0.1f * static_cast<float>(k) : uniform(random, -2, 2));
        directions.push_back(odd ? awkward(random) : alike ? 1 + uniform(random, 0, 0.1f) : uniform(random, -1, 1));
      }
    }
  }
  Rays rays(bool coherent) const {
    return {origins.data(), directions.data(), {&t_min, 0}, {&t_max, 0}, {&skip, 0}, false, coherent};
  }
};

struct Answers {
  std::vector<float> t, u, v;
  std::vector<std::int32_t> primitive;

  explicit Answers(std::int64_t count)
      : t(static_cast<std::size_t>(count)), u(t), v(t), primitive(static_cast<std::size_t>(count)) {}
  ClosestJob job(const Rays& rays) {
    return {rays, t.data(), primitive.data(), u.data(), v.data(), nullptr, nullptr, nullptr};
  }
  bool operator==(const Answers& other) const {
    const std::size_t bytes = t.size() * sizeof(float);
    return primitive == other.primitive && std::memcmp(t.data(), other.t.data(), bytes) == 0 &&
           std::memcmp(u.data(), other.u.data(), bytes) == 0 && std::memcmp(v.data(), other.v.data(), bytes) == 0;
  }
};

template <typename Error, typename Body>
bool throws(Body body) {
  try {
    body();
  } catch (const Error&) {
    return true;
  }
  return false;
}

// Every way to ask gives the same closest hits, and the other questions agree with them.
void check_agreement(const Tree& tree, const Batch& batch) {
  const TreeView& view = tree.view();
  Answers expected(batch.count);
  bvh_kernels_at(Level::baseline).closest_by_force(view, expected.job(batch.rays(false)), 0, batch.count);
  for (const Level level : available_levels()) {
    const BvhKernels& kernels = bvh_kernels_at(level);
    for (const bool coherent : {false, true}) {
      Answers found(batch.count);
      kernels.closest(view, found.job(batch.rays(coherent)), 0, batch.count);
      CHECK(found == expected);
      const auto hit = std::make_unique<bool[]>(static_cast<std::size_t>(batch.count));
      kernels.any(view, {batch.rays(coherent), hit.get()}, 0, batch.count);
      std::vector<std::int32_t> counts(static_cast<std::size_t>(batch.count));
      kernels.count(view, {batch.rays(coherent), counts.data(), false}, 0, batch.count);
      for (std::size_t i = 0; i < counts.size(); ++i) {
        CHECK(hit[i] == (expected.primitive[i] >= 0));
        CHECK((counts[i] > 0) == hit[i]);
      }
    }
    for (std::int64_t i = 0; i < std::min<std::int64_t>(batch.count, 50); ++i) {
      const Single one = kernels.one(view, &batch.origins[static_cast<std::size_t>(3 * i)],
                                     &batch.directions[static_cast<std::size_t>(3 * i)], 0, kInfinity);
      CHECK(one.primitive == expected.primitive[static_cast<std::size_t>(i)]);
      CHECK(one.t == expected.t[static_cast<std::size_t>(i)]);
    }
  }
  const AllHits all = run_all(view, batch.rays(false), batch.count);
  for (std::size_t i = 0; i < expected.primitive.size(); ++i) {
    const std::int64_t first = all.first[i];
    CHECK((all.first[i + 1] > first) == (expected.primitive[i] >= 0));
    if (all.first[i + 1] > first) CHECK(all.primitive[static_cast<std::size_t>(first)] == expected.primitive[i]);
  }
}

}  // namespace

TEST(bvh_refuses_what_it_cannot_index) {
  const Mesh mesh{{0, 0, 0, 1, 0, 0}, {0, 1, 2}};
  CHECK(throws<std::invalid_argument>([&] { Tree(mesh.source(), {}); }));
  const Mesh negative{{0, 0, 0}, {0, 0, -1}};
  CHECK(throws<std::invalid_argument>([&] { Tree(negative.source(), {}); }));
  const Mesh fine{{0, 0, 0}, {0, 0, 0}};
  CHECK(throws<std::invalid_argument>([&] { Tree(fine.source(), {false, 1, 8}); }));
  CHECK(throws<std::invalid_argument>([&] { Tree(fine.source(), {false, 8, 9}); }));
  Tree tree(fine.source(), {});
  const Mesh more{{0, 0, 0, 1, 1, 1}, {0, 0, 0}};
  CHECK(throws<std::invalid_argument>([&] { tree.refit(more.source()); }));
}

TEST(bvh_agrees_with_testing_every_triangle_at_every_level) {
  Random random(1);
  constexpr std::array options{BuildOptions{}, BuildOptions{true, 2, 2}, BuildOptions{false, 3, 1}, BuildOptions{true, 8, 8}};
  for (int round = 0; round < 60; ++round) {
    const int count = std::array{0, 1, 2, 8, 9, 17, 100, 300}[static_cast<std::size_t>(index(random, 8))];
    const float size = std::array{0.01f, 0.1f, 1.0f}[static_cast<std::size_t>(index(random, 3))];
    Mesh mesh = soup(random, count, size, count == 0 ? 0 : index(random, count));
    Tree tree(mesh.source(), options[static_cast<std::size_t>(index(random, 4))]);
    CHECK(tree.depth() <= kMaxDepth);
    CHECK(std::isfinite(tree.cost()));
    check_agreement(tree, Batch(random, 100, false));
    for (float& x : mesh.vertices) x = index(random, 30) == 0 ? awkward(random) : x + uniform(random, -0.1f, 0.1f);
    tree.refit(mesh.source());
    check_agreement(tree, Batch(random, 70, true));
  }
}

TEST(bvh_agrees_over_boxes_and_spheres) {
  Random random(2);
  for (int round = 0; round < 30; ++round) {
    const std::int64_t count = 1 + index(random, 60);
    std::vector<float> points, highs, radii;
    for (std::int64_t i = 0; i < 3 * count; ++i) {
      points.push_back(index(random, 20) == 0 ? awkward(random) : uniform(random, -1, 1));
      highs.push_back(points.back() + uniform(random, -0.1f, 0.5f));
      if (i % 3 == 0) radii.push_back(index(random, 20) == 0 ? awkward(random) : uniform(random, -0.1f, 0.5f));
    }
    const Tree boxes({Kind::boxes, points.data(), highs.data(), nullptr, count, count}, {});
    check_agreement(boxes, Batch(random, 100, round % 2 == 0));
    const Tree spheres({Kind::spheres, points.data(), radii.data(), nullptr, count, count}, {});
    check_agreement(spheres, Batch(random, 100, round % 2 == 0));
    const float low[3] = {-0.5f, -0.5f, -0.5f}, high[3] = {0.5f, 0.5f, 0.5f};
    CHECK(overlap_box(boxes.view(), low, high).size() <= static_cast<std::size_t>(count));
    CHECK(overlap_ball(spheres.view(), low, 1).size() <= static_cast<std::size_t>(count));
  }
}

TEST(bvh_closest_points_are_the_same_at_every_level) {
  Random random(3);
  for (int round = 0; round < 20; ++round) {
    const Mesh mesh = soup(random, 1 + index(random, 200), 0.2f, index(random, 20));
    const Tree tree(mesh.source(), {});
    std::vector<float> points;
    for (int i = 0; i < 300; ++i) points.push_back(index(random, 30) == 0 ? awkward(random) : uniform(random, -2, 2));
    std::vector<std::vector<float>> answers;
    for (const Level level : available_levels()) {
      std::vector<float> distance(100), closest(300), u(100), v(100);
      std::vector<std::int32_t> primitive(100);
      const float reach = kInfinity;
      bvh_kernels_at(level).nearest(
          tree.view(), {points.data(), {&reach, 0}, distance.data(), primitive.data(), closest.data(), u.data(), v.data()},
          0, 100);
      closest.insert(closest.end(), distance.begin(), distance.end());
      answers.push_back(closest);
    }
    for (const auto& answer : answers) CHECK(answer == answers[0]);
  }
}

TEST(bvh_depth_is_bounded_for_clusters_within_clusters) {
  Mesh mesh;
  for (int i = 0; i < 2000; ++i) {
    const float scale = std::ldexp(1.0f, -(i % 140));
    for (int c = 0; c < 3; ++c) {
      for (int k = 0; k < 3; ++k) mesh.vertices.push_back(scale * static_cast<float>(c == k));
      mesh.faces.push_back(3 * i + c);
    }
  }
  for (const int width : {2, 8}) {
    const Tree tree(mesh.source(), {false, width, 1});
    CHECK(tree.depth() <= kMaxDepth);
  }
}

}  // namespace bunraku::bvh
