#include <algorithm>
#include <cstring>

#include "pmx/cursor.hpp"

namespace bunraku::pmx {
namespace {

enum Deform : std::uint8_t { bdef1, bdef2, bdef4, sdef, qdef };

// What a deform type has in the file.
struct Shape {
  std::size_t bones, weights, centres;
};
constexpr Shape shapes[] = {{1, 0, 0}, {2, 1, 0}, {4, 4, 0}, {2, 1, 3}, {4, 4, 0}};

constexpr std::size_t record_size(const Shape& shape, std::size_t additional, std::size_t bone_size) {
  return 4 * (3 + 3 + 2 + 4 * additional) + 1 + bone_size * shape.bones + 4 * (shape.weights + 3 * shape.centres) + 4;
}

template <class Index>
std::int32_t read_index(const std::uint8_t* from) {
  Index value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class Index>
void read_all(Bytes data, std::size_t at, const VerticesOut& out) {
  std::size_t centres = 0;
  for (std::size_t i = 0; i < out.count; ++i) {
    const std::size_t before = 32 + 16 * out.additional;
    const bool typed = data.size() - at > before;
    const std::uint8_t deform = typed ? data[at + before] : 0;
    if (!typed || deform > qdef || data.size() - at < record_size(shapes[deform], out.additional, sizeof(Index)) ||
        (deform == sdef && centres == out.sdef_count)) {
      throw std::invalid_argument("vertex " + std::to_string(i) + " is no record that was scanned");
    }
    const Shape& shape = shapes[deform];
    const std::uint8_t* from = data.data() + at;
    const auto floats = [&from](float* to, std::size_t count) {
      if (count) std::memcpy(to, from, 4 * count);
      from += 4 * count;
    };
    floats(out.positions + 3 * i, 3);
    floats(out.normals + 3 * i, 3);
    floats(out.uvs + 2 * i, 2);
    floats(out.additional_uvs + 4 * out.additional * i, 4 * out.additional);
    out.deform[i] = *from++;
    std::int32_t* const bones = out.bones + 4 * i;
    float* const weights = out.weights + 4 * i;
    std::fill_n(bones, 4, 0);
    std::fill_n(weights, 4, 0.0f);
    for (std::size_t k = 0; k < shape.bones; ++k, from += sizeof(Index)) bones[k] = read_index<Index>(from);
    floats(weights, shape.weights);
    if (shape.weights == 0) weights[0] = 1;
    if (shape.weights == 1) weights[1] = 1 - weights[0];
    if (shape.centres) floats(out.sdef + 9 * centres++, 9);
    floats(out.edge_scales + i, 1);
    at = static_cast<std::size_t>(from - data.data());
  }
  if (centres != out.sdef_count) throw std::invalid_argument("fewer vertices are SDEF than were scanned");
}

template <class Index>
std::vector<std::uint8_t> write_all(const VerticesIn& in) {
  std::size_t size = 0, centres = 0;
  for (std::size_t i = 0; i < in.count; ++i) {
    const std::uint8_t deform = in.deform[i];
    if (deform > qdef) throw std::invalid_argument("deform type " + std::to_string(deform) + ", expected 0..4");
    const Shape& shape = shapes[deform];
    for (std::size_t k = 0; k < shape.bones; ++k) {
      if (static_cast<Index>(in.bones[4 * i + k]) != in.bones[4 * i + k]) {
        throw std::invalid_argument("a bone index does not fit into " + std::to_string(sizeof(Index)) + " B");
      }
    }
    size += record_size(shape, in.additional, sizeof(Index));
    centres += deform == sdef;
  }
  if (centres != in.sdef_count) {
    throw std::invalid_argument(std::to_string(in.sdef_count) + " centres for " + std::to_string(centres) +
                                " SDEF vertices");
  }
  std::vector<std::uint8_t> out(size);
  std::uint8_t* to = out.data();
  const auto floats = [&to](const float* from, std::size_t count) {
    if (count) std::memcpy(to, from, 4 * count);
    to += 4 * count;
  };
  const float* centre = in.sdef;
  for (std::size_t i = 0; i < in.count; ++i) {
    const Shape& shape = shapes[in.deform[i]];
    floats(in.positions + 3 * i, 3);
    floats(in.normals + 3 * i, 3);
    floats(in.uvs + 2 * i, 2);
    floats(in.additional_uvs + 4 * in.additional * i, 4 * in.additional);
    *to++ = in.deform[i];
    for (std::size_t k = 0; k < shape.bones; ++k) {
      const Index bone = static_cast<Index>(in.bones[4 * i + k]);
      std::memcpy(to, &bone, sizeof bone);
      to += sizeof bone;
    }
    floats(in.weights + 4 * i, shape.weights);
    if (shape.centres) {
      floats(centre, 9);
      centre += 9;
    }
    floats(in.edge_scales + i, 1);
  }
  return out;
}

[[noreturn]] void refuse_size(std::int64_t bone_size) {
  throw std::invalid_argument("a bone index of " + std::to_string(bone_size) + " bytes, expected 1, 2 or 4");
}

}  // namespace

void read_vertices(Bytes data, std::int64_t start, std::int64_t bone_size, const VerticesOut& vertices) {
  const auto at = static_cast<std::size_t>(Cursor(data, start).at());
  switch (bone_size) {
    case 1: return read_all<std::int8_t>(data, at, vertices);
    case 2: return read_all<std::int16_t>(data, at, vertices);
    case 4: return read_all<std::int32_t>(data, at, vertices);
    default: refuse_size(bone_size);
  }
}

std::vector<std::uint8_t> write_vertices(const VerticesIn& vertices, std::int64_t bone_size) {
  switch (bone_size) {
    case 1: return write_all<std::int8_t>(vertices);
    case 2: return write_all<std::int16_t>(vertices);
    case 4: return write_all<std::int32_t>(vertices);
    default: refuse_size(bone_size);
  }
}

}  // namespace bunraku::pmx
