#pragma once
// A position in bytes that nobody vouches for, and what to call a place in messages.

#include <bit>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "pmx/pmx.hpp"

namespace bunraku::pmx {

static_assert(std::endian::native == std::endian::little, "PMX and these readers are little-endian");

// "bone 3 IK link 2 limit flag": words and numbers, those that are given.
struct Place {
  const char* kind;
  std::int64_t record = -1;
  const char* part = "";
  std::int64_t item = -1;
  const char* detail = "";

  std::string text() const {
    std::string out = kind;
    const auto add = [&out](const std::string& word) { out += word.empty() ? "" : " " + word; };
    add(record < 0 ? "" : std::to_string(record));
    add(part);
    add(item < 0 ? "" : std::to_string(item));
    add(detail);
    return out;
  }
};

class Cursor {
 public:
  Cursor(Bytes data, std::int64_t at) : data_(data), at_(at) {
    if (at < 0 || at > size()) throw std::invalid_argument("start " + std::to_string(at) + " is outside of the file");
  }

  std::int64_t at() const { return at_; }
  std::int64_t left() const { return size() - at_; }

  [[noreturn]] void fail(std::int64_t at, const Place& place, const std::string& problem) const {
    char number[24];
    std::snprintf(number, sizeof number, "0x%llx", static_cast<unsigned long long>(at));
    throw std::invalid_argument(place.text() + " at byte " + number + ": " + problem);
  }

  // Where `length` bytes start, that are all there; moves behind them.
  std::int64_t take(std::int64_t length, const Place& place) {
    if (length < 0 || length > left()) {
      fail(at_, place, "needs " + std::to_string(length) + (length == 1 ? " byte" : " bytes") + ", but " +
                           std::to_string(left()) + " are left");
    }
    at_ += length;
    return at_ - length;
  }

  // A little-endian integer of 1, 2 or 4 bytes.
  std::int64_t integer(std::int64_t length, bool is_signed, const Place& place) {
    const std::uint8_t* bytes = data_.data() + take(length, place);
    std::uint32_t value = 0;
    for (std::int64_t i = 0; i < length; ++i) value |= static_cast<std::uint32_t>(bytes[i]) << (8 * i);
    const int unused = 32 - 8 * static_cast<int>(length);
    if (!is_signed) return value;
    return static_cast<std::int32_t>(value << unused) >> unused;
  }

  std::int64_t u8(const Place& place) { return integer(1, false, place); }
  std::int64_t i32(const Place& place) { return integer(4, true, place); }

  // A byte that decides what follows, so that nothing but 0 and 1 can be understood.
  bool flag(const Place& place) {
    const std::int64_t value = u8(place);
    if (value > 1) fail(at_ - 1, place, "expected 0 or 1, found " + std::to_string(value));
    return value == 1;
  }

  std::int64_t text(const Place& place) {
    const std::int64_t start = at_;
    take(i32(place), place);
    return start;
  }

  // `count` itself, once as many records of at least `minimum` bytes can still follow.
  std::int64_t fits(std::int64_t count, std::int64_t minimum, const Place& place) const {
    if (count < 0 || count * minimum > left()) {
      fail(at_, place, std::to_string(count) + " are declared, but " + std::to_string(left()) + " bytes hold " +
                           std::to_string(minimum) + " or more each");
    }
    return count;
  }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(data_.size()); }

  Bytes data_;
  std::int64_t at_;
};

}  // namespace bunraku::pmx
