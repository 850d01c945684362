#include "posed/prepare.hpp"

#include <cmath>
#include <limits>
#include <random>
#include <stdexcept>
#include <vector>

#include "bvh/tree.hpp"
#include "check.hpp"
#include "level.hpp"

using namespace bunraku;

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// A strip of small triangles, `width` influences each, and a palette of turns, or of anything.
struct Scene {
  std::int64_t vertices, joints, width;
  std::vector<std::int32_t> slots, faces, moved;
  std::vector<float> weights, positions, palette, deltas, origins, directions;

  Scene(std::int64_t triangles, std::int64_t joint_count, std::int64_t influences, bool rigid)
      : vertices(triangles + 2), joints(joint_count), width(influences) {
    std::mt19937 random(static_cast<unsigned>(triangles * 31 + joint_count * 7 + influences));
    std::uniform_real_distribution<float> value(-1, 1);
    for (std::int64_t v = 0; v < vertices; ++v) {
      const float along = 6.0f * static_cast<float>(v) / static_cast<float>(vertices);
      const float point[3] = {along, 0.2f * value(random), 0.2f * value(random)};
      positions.insert(positions.end(), point, point + 3);
      for (std::int64_t k = 0; k < width; ++k) {
        slots.push_back(static_cast<std::int32_t>((v * joints / vertices + k) % joints));
        weights.push_back(v % 50 == 7 ? 0.0f : std::abs(value(random)));
      }
      if (v % 3 == 0) {
        moved.push_back(static_cast<std::int32_t>(v));
        for (int k = 0; k < 3; ++k) deltas.push_back(0.1f * value(random));
      }
    }
    for (std::int64_t f = 0; f < triangles; ++f) {
      for (std::int64_t c = 0; c < 3; ++c) faces.push_back(static_cast<std::int32_t>(f + c));
    }
    for (std::int64_t j = 0; j < joints; ++j) {
      const float angle = 0.3f * static_cast<float>(j), c = std::cos(angle), s = std::sin(angle);
      float matrix[12] = {c, -s, 0, 0.1f * value(random), s, c, 0, value(random), 0, 0, 1, value(random)};
      for (int i = 0; !rigid && i < 12; ++i) matrix[i] += 0.5f * value(random);
      palette.insert(palette.end(), matrix, matrix + 12);
    }
    for (int r = 0; r < 40; ++r) {
      for (int k = 0; k < 3; ++k) origins.push_back(5 * value(random));
    }
  }

  Influences rig() const { return Influences(slots, weights, vertices, width); }

  std::vector<float> bent(Method method, float morph) const {
    const Influences influences = rig();
    const Panels panels(influences);
    const std::vector<MorphDeltas> targets{{moved, deltas.data(), nullptr, nullptr}};
    const ActiveMorphs morphs(targets, vertices);
    std::vector<float> out(static_cast<std::size_t>(3 * vertices));
    DeformJob job{};
    job.method = method;
    job.frames = 1;
    job.vertices = vertices;
    job.joints = joints;
    job.palette = palette.data();
    job.influences = influences.view();
    job.panels = panels.view();
    job.positions = positions.data();
    if (morph != 0) {
      job.morphs = morphs.view();
      job.morph_weights = &morph;
    }
    job.out_positions = {out.data(), 3 * vertices};
    deform(job);
    return out;
  }
};

void check_same(const Scene& scene, Method method, float morph) {
  const std::vector<float> bent = scene.bent(method, morph);
  const bvh::Source source{bvh::Kind::triangles, bent.data(), nullptr, scene.faces.data(), scene.vertices,
                           static_cast<std::int64_t>(scene.faces.size() / 3)};
  const bvh::Tree tree(source, {});
  const std::vector<posed::Target> targets{{scene.moved, scene.deltas.data()}};
  const posed::RestTree rest(scene.rig(), scene.positions.data(), scene.faces, targets);
  const posed::Posed pose(rest, scene.palette.data(), method, &morph);
  int hits = 0;
  for (std::size_t r = 0; r < scene.origins.size() / 3; ++r) {
    const float* origin = scene.origins.data() + 3 * r;
    const float* aim = bent.data() + 3 * (r * 13 % static_cast<std::size_t>(scene.vertices));
    float direction[3];
    for (int k = 0; k < 3; ++k) direction[k] = aim[k] * 1.001f - origin[k];
    const bvh::Single found = pose.one(origin, direction, 0, kInfinity);
    const bvh::Single wanted = bvh::cast_one(tree.view(), origin, direction, 0, kInfinity);
    CHECK(found.t == wanted.t && found.primitive == wanted.primitive);
    CHECK(found.u == wanted.u && found.v == wanted.v);
    hits += found.primitive >= 0;
  }
  CHECK(hits > 0);
}

}  // namespace

TEST(posed_rejects_what_lies_outside) {
  const Scene scene(10, 2, 2, true);
  std::vector<std::int32_t> faces = scene.faces;
  faces[4] = 12;
  bool threw = false;
  try {
    const posed::RestTree tree(scene.rig(), scene.positions.data(), faces, {});
  } catch (const std::invalid_argument&) {
    threw = true;
  }
  CHECK(threw);
}

TEST(posed_agrees_with_bending_everything) {
  for (const bool rigid : {true, false}) {
    for (const std::int64_t width : {1, 2, 4, 8}) {
      const Scene scene(700, 9, width, rigid);
      for (const Method method : {Method::lbs, Method::dqs}) {
        check_same(scene, method, 0);
        check_same(scene, method, -0.7f);
      }
    }
  }
}

TEST(posed_bounds_every_lane_of_a_gentle_pose) {
  const Scene scene(700, 9, 3, true);
  const posed::RestTree rest(scene.rig(), scene.positions.data(), scene.faces, {});
  const posed::Posed pose(rest, scene.palette.data(), Method::dqs, nullptr);
  CHECK(pose.survey().lanes > 80);
  CHECK(pose.survey().unbounded == 0);
}

TEST(posed_handles_no_triangles_and_one_leaf) {
  for (const std::int64_t triangles : {0, 1, 8}) {
    Scene scene(std::max<std::int64_t>(triangles, 1), 2, 2, true);
    scene.faces.resize(static_cast<std::size_t>(3 * triangles));
    if (triangles > 0) {
      check_same(scene, Method::lbs, 0);
      continue;
    }
    const posed::RestTree rest(scene.rig(), scene.positions.data(), scene.faces, {});
    const posed::Posed pose(rest, scene.palette.data(), Method::lbs, nullptr);
    const float origin[3] = {0, 0, 5}, direction[3] = {0, 0, -1};
    CHECK(pose.one(origin, direction, 0, kInfinity).primitive == -1);
  }
}
