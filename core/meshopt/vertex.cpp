// Mode ATTRIBUTES: elements are cut into blocks; within a block each byte position of the element
// is a plane of deltas, packed 16 at a time; four planes make a channel, which is decoded at once
// with the four bytes side by side in a 32-bit word.

#include <algorithm>
#include <cstring>
#include <utility>

#include "meshopt/meshopt.hpp"
#include "meshopt/stream.hpp"

namespace bunraku::meshopt {
namespace {

constexpr std::size_t kGroup = 16;      // deltas packed together
constexpr std::size_t kMaxBlock = 256;  // elements of a block
constexpr std::size_t kMaxStride = 256;

// The shortest tail, by version. Neither is shorter than the longest packed group (16 4-bit codes,
// all sentinels: 24 bytes), so a group that starts before the tail can be read before its length
// is known.
constexpr std::size_t kLeastTail[2] = {32, 24};

struct Layout {
  std::size_t count, stride, channels, block;
  bool v1;
  std::size_t tail;  // bytes of the tail with its padding

  std::size_t baseline_and_modes() const { return stride + (v1 ? channels : 0); }
};

std::uint64_t ceil_div(std::uint64_t a, std::uint64_t b) { return (a + b - 1) / b; }

Layout check(Stream stream, std::int64_t count, std::int64_t stride) {
  if (stride < 4 || stride > static_cast<std::int64_t>(kMaxStride) || stride % 4 != 0) {
    refuse("stride " + std::to_string(stride) + ", expected a multiple of 4 from 4 to 256");
  }
  check_count(count);
  check_length(stream, 1, "attributes");
  if (stream[0] != 0xa0 && stream[0] != 0xa1) {
    refuse_header(stream[0], "0xa0 or 0xa1 (attributes, version 0 or 1)");
  }
  Layout layout{};
  layout.count = static_cast<std::size_t>(count);
  layout.stride = static_cast<std::size_t>(stride);
  layout.channels = layout.stride / 4;
  layout.block = std::min((8192 / layout.stride) & ~std::size_t{15}, kMaxBlock);
  layout.v1 = stream[0] == 0xa1;
  layout.tail = std::max(layout.baseline_and_modes(), kLeastTail[layout.v1]);

  // The least a block takes: its control bytes (version 1), or its header bits (version 0).
  const std::uint64_t whole = layout.count / layout.block, rest = layout.count % layout.block;
  if (whole > stream.size()) check_length(stream, whole, "that many attributes");
  std::uint64_t least = 1 + layout.tail;
  if (layout.v1) {
    least += (whole + (rest != 0)) * layout.channels;
  } else {
    least += (whole * ceil_div(layout.block, 4 * kGroup) + ceil_div(rest, 4 * kGroup)) * layout.stride;
  }
  check_length(stream, least, "that many attributes");
  return layout;
}

// 16 codes of Bits bits each, then one byte for each code that has all its bits set. The 1-bit
// codes start at the least significant bit, the others at the most significant one.
template <int Bits>
const std::uint8_t* unpack(const std::uint8_t* at, std::uint8_t* out) {
  constexpr unsigned sentinel = (1u << Bits) - 1;
  constexpr int per_byte = 8 / Bits;
  const std::uint8_t* extra = at + 2 * Bits;
  for (int i = 0; i < static_cast<int>(kGroup); ++i) {
    const int place = i % per_byte;
    const int shift = Bits == 1 ? place : 8 - Bits * (place + 1);
    const unsigned code = (at[i / per_byte] >> shift) & sentinel;
    const bool outside = code == sentinel;
    out[i] = outside ? *extra : static_cast<std::uint8_t>(code);
    extra += outside;
  }
  return extra;
}

const std::uint8_t* unpack_group(const std::uint8_t* at, int bits, std::uint8_t* out) {
  switch (bits) {
    case 0: std::memset(out, 0, kGroup); return at;
    case 1: return unpack<1>(at, out);
    case 2: return unpack<2>(at, out);
    case 4: return unpack<4>(at, out);
    default: std::memcpy(out, at, kGroup); return at + kGroup;
  }
}

constexpr int kBitsV0[4] = {0, 2, 4, 8};
constexpr int kBitsV1[2][4] = {{0, 1, 2, 4}, {1, 2, 4, 8}};

class Decoder {
 public:
  Decoder(Stream stream, const Layout& layout)
      : layout_(layout), begin_(stream.data()), at_(begin_ + 1),
        tail_(begin_ + stream.size() - layout.tail) {
    const std::uint8_t* baseline = begin_ + stream.size() - layout.baseline_and_modes();
    std::memcpy(last_, baseline, layout.stride);
    if (layout.v1) std::memcpy(modes_, baseline + layout.stride, layout.channels);
    for (std::size_t channel = 0; channel < layout.channels; ++channel) {
      const unsigned mode = modes_[channel];
      if ((mode & 15) > 2 || ((mode & 15) < 2 && mode >> 4 != 0)) {
        refuse("channel mode " + std::to_string(mode) + " of channel " + std::to_string(channel) +
               ", expected 0, 1, or 2 with a rotation");
      }
    }
  }

  void run(std::uint8_t* out) {
    for (std::size_t first = 0; first < layout_.count; first += layout_.block) {
      decode_block(std::min(layout_.block, layout_.count - first), out + first * layout_.stride);
    }
    if (at_ != tail_) refuse(std::to_string(tail_ - at_) + " bytes are left over before the tail");
  }

 private:
  [[noreturn]] void refuse_short() const {
    refuse("the attribute data ends early, in the deltas at byte " + std::to_string(at_ - begin_) + " of " +
           std::to_string(tail_ - begin_));
  }

  // `length` bytes, all before the tail.
  const std::uint8_t* take(std::size_t length) {
    if (static_cast<std::size_t>(tail_ - at_) < length) refuse_short();
    return std::exchange(at_, at_ + length);
  }

  void decode_block(std::size_t elements, std::uint8_t* out) {
    const std::uint8_t* control = layout_.v1 ? take(layout_.channels) : nullptr;
    for (std::size_t channel = 0; channel < layout_.channels; ++channel) {
      for (int byte = 0; byte < 4; ++byte) {
        decode_plane(elements, control ? control[channel] >> 2 * byte & 3 : -1, planes_[byte]);
      }
      decode_channel(elements, channel, out + 4 * channel);
    }
  }

  void decode_plane(std::size_t elements, int control, std::uint8_t* plane) {
    if (control == 2) {
      std::memset(plane, 0, kMaxBlock);
      return;
    }
    if (control == 3) {
      std::memcpy(plane, take(elements), elements);
      return;
    }
    const int* bits = control < 0 ? kBitsV0 : kBitsV1[control];
    const std::size_t groups = ceil_div(elements, kGroup);
    const std::uint8_t* header = take(ceil_div(groups, 4));
    for (std::size_t group = 0; group < groups; ++group) {
      if (at_ > tail_) refuse_short();
      at_ = unpack_group(at_, bits[header[group / 4] >> 2 * (group % 4) & 3], plane + kGroup * group);
    }
    if (at_ > tail_) refuse_short();
  }

  void decode_channel(std::size_t elements, std::size_t channel, std::uint8_t* out) {
    const std::uint8_t *a = planes_[0], *b = planes_[1], *c = planes_[2], *d = planes_[3];
    std::uint32_t deltas[kMaxBlock];
    for (std::size_t i = 0; i < elements; ++i) {
      deltas[i] = a[i] | b[i] << 8 | c[i] << 16 | static_cast<std::uint32_t>(d[i]) << 24;
    }
    const int mode = modes_[channel] & 15;
    if (mode == 0) {
      last_[channel] = sum_lanes<0x01010101, 0xff>(deltas, elements, last_[channel], out);
    } else if (mode == 1) {
      last_[channel] = sum_lanes<0x00010001, 0xffff>(deltas, elements, last_[channel], out);
    } else {
      std::uint32_t value = last_[channel];
      const int rotation = modes_[channel] >> 4;
      for (std::size_t i = 0; i < elements; ++i) {
        value ^= std::rotr(deltas[i], rotation);
        std::memcpy(out + i * layout_.stride, &value, 4);
      }
      last_[channel] = value;
    }
  }

  // Running sums of zigzag deltas in the lanes of a word: Ones has the lowest bit of each lane
  // set, Lane all bits of the lowest lane. No carry crosses into the next lane, since the highest
  // bits are added by themselves.
  template <std::uint32_t Ones, std::uint32_t Lane>
  std::uint32_t sum_lanes(std::uint32_t* deltas, std::size_t elements, std::uint32_t value,
                          std::uint8_t* out) const {
    constexpr std::uint32_t high = Ones * (Lane / 2 + 1), low = ~high;
    for (std::size_t i = 0; i < elements; ++i) {
      deltas[i] = (deltas[i] >> 1 & low) ^ (deltas[i] & Ones) * Lane;
    }
    for (std::size_t i = 0; i < elements; ++i) {
      value = ((value & low) + (deltas[i] & low)) ^ ((value ^ deltas[i]) & high);
      std::memcpy(out + i * layout_.stride, &value, 4);
    }
    return value;
  }

  const Layout layout_;
  const std::uint8_t* const begin_;
  const std::uint8_t* at_;
  const std::uint8_t* const tail_;
  std::uint32_t last_[kMaxStride / 4] = {};
  std::uint8_t modes_[kMaxStride / 4] = {};
  std::uint8_t planes_[4][kMaxBlock];
};

}  // namespace

Decoded decode_vertex(Stream stream, std::int64_t count, std::int64_t stride) {
  const Layout layout = check(stream, count, stride);
  Decoder decoder(stream, layout);
  Decoded decoded = allocate(layout.count * layout.stride);
  decoder.run(decoded.bytes.get());
  return decoded;
}

}  // namespace bunraku::meshopt
