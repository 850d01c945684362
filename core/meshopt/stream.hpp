#pragma once
// What the decoders share: refusal, the checks of count and index size, and a reader that
// cannot leave its bytes.

#include <bit>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "meshopt/meshopt.hpp"

namespace bunraku::meshopt {

static_assert(std::endian::native == std::endian::little, "glTF and these decoders are little-endian");

[[noreturn]] inline void refuse(const std::string& what) { throw std::invalid_argument("meshopt: " + what); }

[[noreturn]] inline void refuse_header(std::uint8_t found, const char* expected) {
  constexpr char digits[] = "0123456789abcdef";
  refuse(std::string("header byte 0x") + digits[found >> 4] + digits[found & 15] + ", expected " + expected);
}

inline void check_count(std::int64_t count) {
  if (count < 0) refuse("count " + std::to_string(count) + " is negative");
}

inline void check_index_size(std::int64_t index_size) {
  if (index_size != 2 && index_size != 4) {
    refuse("index size " + std::to_string(index_size) + ", expected 2 or 4 bytes");
  }
}

inline void check_length(Stream stream, std::uint64_t least, const char* what) {
  if (stream.size() < least) {
    refuse(std::string(what) + " need at least " + std::to_string(least) + " bytes, the stream has " +
           std::to_string(stream.size()));
  }
}

inline Decoded allocate(std::size_t size) {
  return {std::unique_ptr<std::uint8_t[]>(new std::uint8_t[size]), size};
}

class Reader {
 public:
  Reader(const std::uint8_t* begin, const std::uint8_t* end) : at_(begin), end_(end) {}

  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::uint8_t byte() {
    if (at_ == end_) refuse("the index data ends early");
    return *at_++;
  }

  // Unsigned LEB128 of 1 to 5 bytes; bits beyond the 32nd are dropped, as the specification asks.
  std::uint32_t varint() {
    std::uint32_t value = byte();
    if (value < 0x80) return value;
    value &= 0x7f;
    for (int shift = 7; shift < 35; shift += 7) {
      const std::uint32_t next = byte();
      value |= (next & 0x7f) << shift;
      if (next < 0x80) return value;
    }
    refuse("an index takes more than 5 bytes");
  }

  void expect_end() const {
    if (at_ != end_) refuse(std::to_string(left()) + " bytes are left over before the tail");
  }

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
};

// 0, -1, 1, -2, 2, … from 0, 1, 2, 3, 4, …, with wraparound.
inline std::uint32_t unzigzag(std::uint32_t v) { return (v >> 1) ^ (0u - (v & 1)); }

}  // namespace bunraku::meshopt
