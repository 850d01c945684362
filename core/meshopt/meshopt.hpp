#pragma once
// Decoders of the buffer views that EXT_meshopt_compression and KHR_meshopt_compression pack.
// The numbers and the layout are those of the two specifications, Appendix A (bitstream) and
// B (filters): https://github.com/KhronosGroup/glTF/tree/main/extensions/2.0
//
// A stream is hostile until decoded: every function throws std::invalid_argument that says what
// is wrong and where, reads inside `stream` only, and allocates nothing before the stream has
// been seen to be long enough for `count` elements. The output is therefore at most 1024 times
// the stream (attributes), 12 times (triangles), 4 times (indices).

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace bunraku::meshopt {

using Stream = std::span<const std::uint8_t>;

// count * stride bytes that the decoder allocated.
struct Decoded {
  std::unique_ptr<std::uint8_t[]> bytes;
  std::size_t size = 0;
};

// Mode ATTRIBUTES, codec versions 0 and 1; stride in bytes: a multiple of 4, at most 256.
Decoded decode_vertex(Stream stream, std::int64_t count, std::int64_t stride);

// Mode TRIANGLES: count indices, a multiple of 3, each index_size (2 or 4) bytes.
Decoded decode_triangles(Stream stream, std::int64_t count, std::int64_t index_size);

// Mode INDICES: count indices, each index_size (2 or 4) bytes.
Decoded decode_indices(Stream stream, std::int64_t count, std::int64_t index_size);

// Turns decoded attributes into what accessors read, in place: OCTAHEDRAL, QUATERNION,
// EXPONENTIAL or COLOR. After a throw the elements are partly filtered: drop them.
void apply_filter(std::span<std::uint8_t> data, std::int64_t count, std::int64_t stride,
                  std::string_view name);

}  // namespace bunraku::meshopt
