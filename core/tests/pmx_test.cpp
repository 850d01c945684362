#include "pmx/pmx.hpp"

#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"

using namespace bunraku::pmx;

namespace {

constexpr Sizes one{1, 1, 1, 1, 1, 1};

// Little-endian numbers one after the other.
class Pack {
 public:
  Pack& u8(int value) {
    bytes.push_back(static_cast<std::uint8_t>(value));
    return *this;
  }
  Pack& i32(std::int32_t value) { return append(&value, sizeof value); }
  Pack& zeros(std::size_t count) {
    bytes.resize(bytes.size() + count);
    return *this;
  }
  Pack& f32(float value) { return append(&value, sizeof value); }
  Pack& names() { return zeros(8); }

  std::vector<std::uint8_t> bytes;

 private:
  Pack& append(const void* from, std::size_t size) {
    const auto* const first = static_cast<const std::uint8_t*>(from);
    bytes.insert(bytes.end(), first, first + size);
    return *this;
  }
};

// Without spare capacity, so that the address sanitizer sees the first byte outside.
Scan run(const std::vector<std::uint8_t>& bytes, bool soft = true) {
  const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[bytes.size()]);
  if (!bytes.empty()) std::memcpy(exact.get(), bytes.data(), bytes.size());
  return scan({exact.get(), bytes.size()}, 0, 1, one, soft);
}

template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

std::string refused(const Pack& pack) {
  return refusal([&] { run(pack.bytes); });
}

// One vertex of each deform type, and one of everything else there is.
Pack whole() {
  Pack p;
  p.i32(5);
  for (int deform = 0; deform < 5; ++deform) {
    for (int i = 0; i < 12; ++i) p.f32(static_cast<float>(10 * deform + i));
    p.u8(deform);
    const int bones[] = {1, 2, 4, 2, 4}, floats[] = {0, 1, 4, 10, 4};
    for (int i = 0; i < bones[deform]; ++i) p.u8(-1 - i);
    for (int i = 0; i < floats[deform]; ++i) p.f32(0.25f * static_cast<float>(i + 1));
    p.f32(2);
  }
  p.i32(3).u8(0).u8(1).u8(255);                       // faces
  p.i32(1).i32(2).u8('a').u8('b');                    // textures
  p.i32(2).names().zeros(68).u8(1).u8(3).i32(0).i32(3);  // materials
  p.names().zeros(68).u8(0).u8(-1).i32(1).u8('m').i32(0);
  p.i32(2).names().zeros(17).u8(0).u8(0).zeros(12);   // bones: a tail offset; everything
  p.names().zeros(17).u8(0x21).u8(0x2f).zeros(1 + 5 + 12 + 24 + 4).zeros(9).i32(2);
  p.u8(0).u8(0).u8(1).u8(1).zeros(24);
  p.i32(11);                                          // morphs
  const std::size_t sizes[] = {5, 13, 29, 17, 17, 17, 17, 17, 114, 5, 26};
  for (int kind = 0; kind < 11; ++kind) p.names().u8(4).u8(kind).i32(1).zeros(sizes[kind]);
  p.i32(1).names().u8(1).i32(2).u8(1).u8(7).u8(0).u8(-1);  // frames
  p.i32(1).names().zeros(62);                         // bodies
  p.i32(1).names().zeros(99);                         // joints
  p.i32(1).names().zeros(126).i32(1).zeros(3).i32(2).zeros(2);  // soft bodies
  return p;
}

// Reads the vertices that were found, and writes them: the same bytes.
void read_back(const std::vector<std::uint8_t>& bytes, const Scan& found) {
  const auto n = static_cast<std::size_t>(found.vertex_count), s = static_cast<std::size_t>(found.sdef_count);
  std::vector<float> floats(n * (3 + 3 + 2 + 4 + 4 + 1) + 9 * s);
  std::vector<std::uint8_t> deform(n);
  std::vector<std::int32_t> bones(4 * n);
  float* const at = floats.data();
  const VerticesOut out{n,      1,           s,           at,           at + 3 * n,   at + 6 * n, at + 8 * n,
                        deform.data(), bones.data(), at + 12 * n, at + 17 * n, at + 16 * n};
  read_vertices(bytes, 4, 1, out);
  const VerticesIn in{n,           1,          s,          out.positions, out.normals, out.uvs, out.additional_uvs,
                      out.deform, out.bones, out.weights, out.sdef,      out.edge_scales};
  const std::vector<std::uint8_t> same(bytes.begin() + 4, bytes.begin() + found.starts[1]);
  CHECK(write_vertices(in, 1) == same);
}

}  // namespace

TEST(pmx_marks_lead_to_every_part) {
  const Pack file = whole();
  const Scan found = run(file.bytes);
  CHECK(found.starts[10] == static_cast<std::int64_t>(file.bytes.size()));
  CHECK(found.vertex_count == 5 && found.sdef_count == 1);
  CHECK(found.textures.at.size() == 2 && found.textures.at[1] - found.textures.at[0] == 6);
  CHECK(found.materials.at.size() == 12);
  CHECK(found.materials.at[4] == found.materials.at[3] + 1 && found.materials.at[5] == found.materials.at[4] + 4);
  CHECK(found.materials.at[11] == found.materials.at[10] + 5);
  CHECK(found.bones.at.size() == 20);
  CHECK(found.bones.at[3] == -1 && found.bones.at[4] == found.bones.at[2] + 19 && found.bones.at[9] == -1);
  CHECK(found.bones.at[14] == -1 && found.bones.at[15] == found.bones.at[13] + 1);
  CHECK(found.bones.at[16] == found.bones.at[15] + 5 && found.bones.at[17] == found.bones.at[16] + 12);
  CHECK(found.bones.at[18] == found.bones.at[17] + 24 && found.bones.at[19] == found.bones.at[18] + 4);
  CHECK(found.links.at.size() == 4 && found.links.at[1] == -1 && found.links.at[3] == found.links.at[2] + 2);
  CHECK(found.morphs.at.size() == 33);
  CHECK((found.elements.at == std::vector<std::int64_t>{1, 7, 0, -1}));
  CHECK(found.soft_bodies.at.size() == 5 && found.soft_bodies.at[4] == found.soft_bodies.at[3] + 7);
}

TEST(pmx_vertices_come_back) {
  const Pack file = whole();
  float positions[15], normals[15], uvs[10], additional[20], weights[20], sdef[9], edges[5];
  std::uint8_t deform[5];
  std::int32_t bones[20];
  const VerticesOut out{5, 1, 1, positions, normals, uvs, additional, deform, bones, weights, sdef, edges};
  read_vertices(file.bytes, 4, 1, out);
  CHECK(positions[3] == 10 && normals[0] == 3 && uvs[8] == 46 && additional[19] == 51 && edges[4] == 2);
  CHECK(deform[4] == 4 && bones[0] == -1 && bones[1] == 0 && bones[19] == -4);
  CHECK(weights[0] == 1 && weights[1] == 0 && weights[4] == 0.25f && weights[5] == 0.75f && weights[11] == 1);
  CHECK(sdef[0] == 0.5f && sdef[8] == 2.5f);

  const VerticesIn in{5, 1, 1, positions, normals, uvs, additional, deform, bones, weights, sdef, edges};
  const std::int64_t end = run(file.bytes).starts[1];
  CHECK(write_vertices(in, 1) == std::vector<std::uint8_t>(file.bytes.begin() + 4, file.bytes.begin() + end));
  CHECK(write_vertices(in, 4).size() == static_cast<std::size_t>(end) - 4 + 3 * 13);

  bones[19] = -129;
  CHECK(refusal([&] { write_vertices(in, 1); }).find("does not fit into 1 B") != std::string::npos);
  bones[1] = 1000;  // BDEF1 has no second bone
  bones[19] = 0;
  CHECK(write_vertices(in, 1).size() == static_cast<std::size_t>(end) - 4);
  deform[0] = 5;
  CHECK(refusal([&] { write_vertices(in, 1); }).find("deform type 5") != std::string::npos);
  bones[1] = 0;
  deform[0] = 3;
  CHECK(refusal([&] { write_vertices(in, 1); }).find("1 centres for 2 SDEF") != std::string::npos);
  CHECK(refusal([&] { write_vertices(in, 3); }).find("3 bytes") != std::string::npos);
}

TEST(pmx_vertices_that_were_not_scanned_are_refused) {
  const Pack file = whole();
  float floats[32] = {};
  std::uint8_t deform[1];
  std::int32_t bones[4];
  const VerticesOut out{1, 1, 0, floats, floats, floats, floats, deform, bones, floats, floats, floats};
  const auto reads = [&](std::int64_t start, const VerticesOut& to) {
    return refusal([&] { read_vertices(file.bytes, start, 1, to); });
  };
  CHECK(reads(4, out).empty());
  CHECK(!reads(static_cast<std::int64_t>(file.bytes.size()), out).empty());
  CHECK(!reads(static_cast<std::int64_t>(file.bytes.size()) + 1, out).empty());
  CHECK(!reads(-1, out).empty());
  VerticesOut spherical = out;
  spherical.sdef_count = 1;
  CHECK(reads(4, spherical).find("fewer vertices are SDEF") != std::string::npos);
}

TEST(pmx_what_is_malformed_is_said) {
  CHECK(refused(Pack{}) == "vertex count at byte 0x0: needs 4 bytes, but 0 are left");
  CHECK(refused(Pack{}.i32(-1)) == "vertices at byte 0x4: -1 are declared, but 0 bytes hold 54 or more each");
  CHECK(refused(Pack{}.i32(1).zeros(48).u8(5).zeros(5)) == "vertex 0 deform type at byte 0x34: expected 0..4, found 5");
  CHECK(refused(Pack{}.i32(1).zeros(48).u8(3).zeros(9)) == "vertex 0 at byte 0x4: the file ends within it");
  CHECK(refused(Pack{}.i32(0).i32(4)) == "index count at byte 0x4: expected a multiple of 3, found 4");
  CHECK(refused(Pack{}.i32(0).i32(-3)) == "faces at byte 0x8: needs -3 bytes, but 0 are left");
  CHECK(refused(Pack{}.zeros(8).i32(1).i32(-4)) == "texture 0 at byte 0x10: needs -4 bytes, but 0 are left");
  CHECK(refused(Pack{}.zeros(16).i32(1).names().zeros(17).u8(0x20).u8(0).zeros(12 + 9).i32(9)) ==
        "bone 0 IK link list at byte 0x48: 9 are declared, but 0 bytes hold 2 or more each");
  CHECK(refusal([] { scan({}, 0, 5, one, true); }).find("additional UVs") != std::string::npos);
  CHECK(refusal([] { scan({}, 0, 0, {1, 1, 1, 3, 1, 1}, true); }).find("index of 3") != std::string::npos);
  CHECK(refusal([] { scan({}, 1, 0, one, true); }).find("outside") != std::string::npos);
}

TEST(pmx_every_truncation_and_mutation_is_an_answer) {
  const std::vector<std::uint8_t> file = whole().bytes;
  for (std::size_t length = 0; length < file.size(); ++length) {
    CHECK(!refusal([&] { run({file.begin(), file.begin() + static_cast<std::ptrdiff_t>(length)}); }).empty());
  }
  std::mt19937 draw(1);
  int scanned = 0;
  for (int n = 0; n < 20000; ++n) {
    std::vector<std::uint8_t> broken = file;
    for (unsigned k = 1 + draw() % 3; k > 0; --k) {
      const std::size_t at = draw() % broken.size();
      switch (draw() % 4) {
        case 0: broken[at] = static_cast<std::uint8_t>(draw()); break;
        case 1: broken[at] = draw() % 2 ? 255 : 127; break;
        case 2: broken.erase(broken.begin() + static_cast<std::ptrdiff_t>(at)); break;
        default: broken[at] = static_cast<std::uint8_t>(broken[at] ^ 1u << draw() % 8);
      }
    }
    scanned += refusal([&] { read_back(broken, run(broken)); }).empty();
  }
  CHECK(scanned > 1000 && scanned < 19000);
}
