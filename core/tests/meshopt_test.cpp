#include "meshopt/meshopt.hpp"

#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"

using namespace bunraku::meshopt;

namespace {

using Bytes = std::vector<std::uint8_t>;
using Decode = Decoded (*)(Stream, std::int64_t, std::int64_t);

// Without spare capacity, so that the address sanitizer sees the first byte outside.
Decoded run(Decode decode, const Bytes& stream, std::int64_t count, std::int64_t size) {
  const std::unique_ptr<std::uint8_t[]> exact(new std::uint8_t[stream.size()]);
  if (!stream.empty()) std::memcpy(exact.get(), stream.data(), stream.size());
  return decode({exact.get(), stream.size()}, count, size);
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

bool refused(Decode decode, const Bytes& stream, std::int64_t count, std::int64_t size, const char* why) {
  return refusal([&] { run(decode, stream, count, size); }).find(why) != std::string::npos;
}

void append(Bytes& bytes, std::size_t count, std::uint8_t value) { bytes.insert(bytes.end(), count, value); }

// Streams that are valid whatever bytes the generator draws: the draw decides only how each group
// is packed and what it holds.
class Draw {
 public:
  explicit Draw(unsigned seed) : engine_(seed) {}

  std::size_t below(std::size_t limit) { return std::uniform_int_distribution<std::size_t>(0, limit - 1)(engine_); }
  std::uint8_t byte() { return static_cast<std::uint8_t>(below(256)); }
  void bytes(Bytes& out, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) out.push_back(byte());
  }

  Bytes attributes(bool v1, std::size_t count, std::size_t stride) {
    Bytes out{static_cast<std::uint8_t>(v1 ? 0xa1 : 0xa0)};
    const std::size_t block = std::min<std::size_t>((8192 / stride) & ~std::size_t{15}, 256);
    for (std::size_t first = 0; first < count; first += block) {
      const std::size_t elements = std::min(block, count - first);
      const std::size_t control = out.size();
      if (v1) bytes(out, stride / 4);
      for (std::size_t byte = 0; byte < stride; ++byte) {
        plane(out, elements, v1 ? out[control + byte / 4] >> 2 * (byte % 4) & 3 : -1);
      }
    }
    const std::size_t tail = stride + (v1 ? stride / 4 : 0), least = v1 ? 24 : 32;
    append(out, tail < least ? least - tail : 0, 0);
    bytes(out, stride);
    static constexpr std::uint8_t modes[] = {0x00, 0x01, 0x02, 0x12, 0x82, 0xf2};
    for (std::size_t i = 0; v1 && i < stride / 4; ++i) out.push_back(modes[below(6)]);
    return out;
  }

  Bytes triangles(std::size_t count) {
    Bytes out{0xe1}, data;
    for (std::size_t i = 0; i < count; ++i) {
      // The first triangles fill both queues, so that any code may follow them.
      const unsigned code = i < 6 ? 0xf0 : byte();
      out.push_back(static_cast<std::uint8_t>(code));
      if (code >= 0xfe) {
        const unsigned sources = byte();
        data.push_back(static_cast<std::uint8_t>(sources));
        for (int n = (code == 0xff) + (sources >> 4 == 15) + ((sources & 15) == 15); n > 0; --n) varint(data);
      } else if (code < 0xf0 && (code & 15) == 15) {
        varint(data);
      }
    }
    out.insert(out.end(), data.begin(), data.end());
    for (int i = 0; i < 14; ++i) {
      out.push_back(i == 0 ? 0 : static_cast<std::uint8_t>(below(15) << 4 | below(15)));
    }
    append(out, 2, 0);
    return out;
  }

  Bytes indices(std::size_t count) {
    Bytes out{0xd1};
    for (std::size_t i = 0; i < count; ++i) varint(out);
    append(out, 4, 0);
    return out;
  }

  Bytes mutated(Bytes bytes) {
    for (std::size_t n = 1 + below(3); n > 0; --n) {
      const std::size_t place = bytes.empty() ? 0 : below(bytes.size());
      switch (below(5)) {
        case 0: bytes.resize(place); break;
        case 1: bytes.insert(bytes.begin() + static_cast<std::ptrdiff_t>(place), byte()); break;
        case 2: if (!bytes.empty()) bytes.erase(bytes.begin() + static_cast<std::ptrdiff_t>(place)); break;
        case 3: if (!bytes.empty()) bytes[place] = byte(); break;
        default: if (!bytes.empty()) bytes[place] = static_cast<std::uint8_t>(bytes[place] ^ 1 << below(8));
      }
    }
    return bytes;
  }

 private:
  void varint(Bytes& out) {
    for (std::size_t more = below(5); more > 0; --more) out.push_back(byte() | 0x80);
    out.push_back(byte() & 0x7f);
  }

  void plane(Bytes& out, std::size_t elements, int control) {
    static constexpr int bits[3][4] = {{0, 1, 2, 4}, {1, 2, 4, 8}, {0, 2, 4, 8}};
    if (control == 2) return;
    if (control == 3) return bytes(out, elements);
    const std::size_t groups = (elements + 15) / 16, header = out.size();
    bytes(out, (groups + 3) / 4);
    for (std::size_t group = 0; group < groups; ++group) {
      const int width = bits[control < 0 ? 2 : control][out[header + group / 4] >> 2 * (group % 4) & 3];
      const std::size_t codes = out.size();
      bytes(out, static_cast<std::size_t>(2 * width));
      if (width == 0 || width == 8) continue;
      std::size_t sentinels = 0;
      for (std::size_t i = 0; i < 16; ++i) {
        const int shift = static_cast<int>(i * static_cast<std::size_t>(width) % 8), all = (1 << width) - 1;
        sentinels += (out[codes + i * static_cast<std::size_t>(width) / 8] >> shift & all) == all;
      }
      bytes(out, sentinels);
    }
  }

  std::mt19937 engine_;
};

}  // namespace

TEST(meshopt_invalid_arguments_are_refused) {
  const Bytes vertex = Draw(1).attributes(true, 3, 8);
  for (const std::int64_t stride : {-4, 0, 2, 6, 260}) CHECK(refused(decode_vertex, vertex, 3, stride, "stride"));
  CHECK(refused(decode_vertex, vertex, -1, 8, "count -1"));
  CHECK(refused(decode_vertex, vertex, std::numeric_limits<std::int64_t>::max(), 8, "need at least"));
  CHECK(refused(decode_vertex, {}, 3, 8, "the stream has 0"));
  CHECK(refused(decode_vertex, {0xa2}, 0, 8, "header byte 0xa2"));
  CHECK(refused(decode_vertex, {0xa0}, 1, 8, "need at least"));
  CHECK(refused(decode_triangles, {0xe0}, 3, 2, "header byte 0xe0"));
  CHECK(refused(decode_triangles, {0xe1}, 4, 2, "multiple of 3"));
  CHECK(refused(decode_triangles, {0xe1}, 3, 1, "index size 1"));
  CHECK(refused(decode_triangles, {0xe1}, 3, 2, "need at least"));
  CHECK(refused(decode_indices, {0xd0}, 3, 2, "header byte 0xd0"));
  CHECK(refused(decode_indices, {0xd1, 0, 0, 0, 0, 0}, 2, 2, "need at least"));
  CHECK(refused(decode_indices, {0xd1, 0, 0, 0, 0, 0, 0}, 1, 2, "left over"));
  CHECK(refused(decode_indices, {0xd1, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0, 0, 0}, 1, 4, "more than 5"));
}

TEST(meshopt_attributes_follow_the_specification_example) {
  Bytes stream{0xa0, 0x02, 0x17, 0x5f, 0xf0, 0xbc, 0x77, 0xa9, 0x21, 0x00, 0x34, 0xb5};
  append(stream, 3, 0);        // the header bits of the other three bytes
  append(stream, 28 + 4, 0);   // padding, baseline
  const Decoded decoded = run(decode_vertex, stream, 16, 4);
  const int deltas[16] = {-1, -4, -3, 26, -91, 0, -6, 6, -4, -4, 5, -5, 1, -1, 0, 0};
  int value = 0;
  for (std::size_t i = 0; i < 16; ++i) {
    value += deltas[i];
    CHECK(decoded.bytes[4 * i] == static_cast<std::uint8_t>(value));
    CHECK(decoded.bytes[4 * i + 1] == 0);
  }
}

TEST(meshopt_unwritten_queue_entries_are_refused) {
  Bytes first_on_edge{0xe1, 0x00};
  append(first_on_edge, 16, 0);
  CHECK(refused(decode_triangles, first_on_edge, 3, 2, "an edge 0 back"));
  Bytes first_on_vertex{0xe1, 0xfe, 0x10};
  append(first_on_vertex, 16, 0);
  CHECK(refused(decode_triangles, first_on_vertex, 3, 2, "a vertex 0 back"));
}

TEST(meshopt_hostile_streams_are_decoded_or_refused) {
  Draw draw(7);
  std::size_t decoded = 0, mutated = 0;
  const auto attempt = [&](Decode decode, const Bytes& stream, std::size_t count, std::int64_t size) {
    CHECK(refusal([&] { run(decode, stream, static_cast<std::int64_t>(count), size); }).empty());
    for (int i = 0; i < 20; ++i, ++mutated) {
      const std::size_t claimed = draw.below(4) == 0 ? draw.below(2 * count + 2) : count;
      const Bytes hostile = draw.mutated(stream);
      decoded += refusal([&] { run(decode, hostile, static_cast<std::int64_t>(claimed), size); }).empty();
    }
  };
  for (int round = 0; round < 300; ++round) {
    const std::size_t stride = 4 * (1 + draw.below(round % 10 == 0 ? 64 : 6));
    const std::size_t elements = draw.below(round % 10 == 0 ? 600 : 40);
    const std::int64_t index_size = round % 2 == 0 ? 2 : 4;
    attempt(decode_vertex, draw.attributes(round % 2 == 0, elements, stride), elements,
            static_cast<std::int64_t>(stride));
    attempt(decode_triangles, draw.triangles(elements), 3 * elements, index_size);
    attempt(decode_indices, draw.indices(elements), elements, index_size);
  }
  CHECK(decoded > mutated / 50 && decoded < mutated);  // the mutations reach past the first checks
}

TEST(meshopt_filters_survive_any_bytes) {
  Draw draw(11);
  std::size_t filtered = 0;
  for (const auto& filter : {std::pair{"OCTAHEDRAL", 4}, {"OCTAHEDRAL", 8}, {"QUATERNION", 8},
                             {"EXPONENTIAL", 4}, {"COLOR", 4}, {"COLOR", 8}}) {
    const char* const name = filter.first;  // clang 14 lets no lambda hold a structured binding
    const int stride = filter.second;
    for (int round = 0; round < 3000; ++round) {
      Bytes element;
      draw.bytes(element, static_cast<std::size_t>(stride));
      filtered += refusal([&] { apply_filter(element, 1, stride, name); }).empty();
    }
    Bytes two(static_cast<std::size_t>(2 * stride));
    CHECK(!refusal([&] { apply_filter(two, 3, stride, name); }).empty());
    CHECK(!refusal([&] { apply_filter(two, -2, stride, name); }).empty());
    CHECK(!refusal([&] { apply_filter(two, 2, stride == 4 ? 6 : 12 - 2, name); }).empty());
  }
  CHECK(filtered > 9000);
  Bytes one(8);
  CHECK(refusal([&] { apply_filter(one, 1, 8, "octahedral"); }).find("expected OCTAHEDRAL") != std::string::npos);
}
