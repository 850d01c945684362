#pragma once
// Where the records of a PMX 2.0 or 2.1 model are, and its vertices.
//
// Most records of a PMX tell how long they are only inside of them (texts, deform types, flags,
// kinds), so that each is found from the one before. `scan` walks all lists once and marks the
// parts whose place is not fixed; whoever called it then reads them all at once.
//
// The bytes are hostile until scanned: every function throws std::invalid_argument that says
// what is wrong and where, reads inside `data` only, and allocates for no list before the bytes
// that are left could hold as many of its records: 16 bytes for each 2 of the file at most.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bunraku::pmx {

using Bytes = std::span<const std::uint8_t>;

// Bytes of an index into each list: 1, 2 or 4. Those of vertices are unsigned up to two bytes.
struct Sizes {
  std::int64_t vertex, texture, material, bone, morph, body;
};

// Offsets into the file, `width` of them for each record; -1 for a part that is not there.
// A text begins with its length, and ends where the next part begins.
struct Marks {
  std::size_t width;
  std::vector<std::int64_t> at = {};
};

struct Scan {
  // Of the ten lists and of what follows them; without soft bodies the last two are the same.
  std::array<std::int64_t, 11> starts = {};
  std::int64_t vertex_count = 0, sdef_count = 0;
  Marks textures{2};   // path, end
  Marks materials{6};  // name, English name, fields, toon, memo, index count
  // name, English name, fields, tail bone or tail offset, append, axis, axes, key, IK
  Marks bones{10};
  Marks links{2};       // bone and limits of the IK links, those of one bone after another's
  Marks morphs{3};      // name, English name, fields: panel, kind, count; then the offsets
  Marks frames{3};      // name, English name, fields: special, count; then the elements
  Marks elements{2};    // no offsets, but kind (0 bone, 1 morph) and index
  Marks bodies{3};      // name, English name, fields
  Marks joints{3};      // name, English name, fields
  Marks soft_bodies{5}; // name, English name, fields, anchor count, pin count
};

// Walks the lists from `start`, where the vertex count is.
Scan scan(Bytes data, std::int64_t start, std::int64_t additional_uvs, const Sizes& sizes, bool soft_bodies);

// Vertices as arrays: positions (n, 3), normals (n, 3), uvs (n, 2), additional_uvs (n, k, 4),
// deform (n), bones (n, 4), weights (n, 4), sdef (as many as are SDEF, 3, 3), edge_scales (n).
template <class Byte, class Index, class Float>
struct Vertices {
  std::size_t count, additional, sdef_count;
  Float *positions, *normals, *uvs, *additional_uvs;
  Byte* deform;
  Index* bones;
  Float *weights, *sdef, *edge_scales;
};
using VerticesIn = Vertices<const std::uint8_t, const std::int32_t, const float>;
using VerticesOut = Vertices<std::uint8_t, std::int32_t, float>;

// Fills the arrays from the records at `start`. Slots that a deform type does not have are 0,
// the one weight of BDEF1 is 1, the second of BDEF2 and SDEF is 1 minus the first.
void read_vertices(Bytes data, std::int64_t start, std::int64_t bone_size, const VerticesOut& vertices);

// Bytes of the records. Throws for a deform type there is not, for a bone that `bone_size` bytes
// cannot hold, and where `sdef` is not as long as vertices are SDEF.
std::vector<std::uint8_t> write_vertices(const VerticesIn& vertices, std::int64_t bone_size);

}  // namespace bunraku::pmx
