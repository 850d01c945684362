// The filters, in single precision and in the order of operations of the specification's Appendix B.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "meshopt/meshopt.hpp"
#include "meshopt/stream.hpp"

namespace bunraku::meshopt {
namespace {

// Nearest integer, halves away from zero, for |v| < 2^31. v + 0.5 would round 0.49999997 up.
int round_away(float v) {
  const int whole = static_cast<int>(v);
  const float rest = v - static_cast<float>(whole);
  return whole + (rest >= 0.5f) - (rest <= -0.5f);
}

// Rounded into [-max, max] or [0, max]; what valid data decodes to is never clamped.
template <class Component>
Component round_into(float v) {
  constexpr float most = std::numeric_limits<Component>::max();
  constexpr float least = std::is_signed_v<Component> ? -most : 0.0f;
  return static_cast<Component>(round_away(std::clamp(v, least, most)));
}

// Four components of every element, turned by `decode`, which says whether they could be.
template <class Component, class Decode>
void each_vector(std::span<std::uint8_t> data, const char* why, Decode decode) {
  constexpr std::size_t size = 4 * sizeof(Component);
  for (std::size_t i = 0; i < data.size(); i += size) {
    Component v[4];
    std::memcpy(v, data.data() + i, size);
    if (!decode(v)) refuse("element " + std::to_string(i / size) + ": " + why);
    std::memcpy(data.data() + i, v, size);
  }
}

template <class Component>
void octahedral(std::span<std::uint8_t> data) {
  constexpr float most = std::numeric_limits<Component>::max();
  each_vector<Component>(data, "the third component of an octahedral vector is not positive", [](Component* v) {
    if (v[2] <= 0) return false;
    const float one = v[2];
    float x = v[0] / one, y = v[1] / one;
    const float z = 1.0f - std::abs(x) - std::abs(y);
    const float fold = std::min(z, 0.0f);
    x -= std::copysign(fold, x);
    y -= std::copysign(fold, y);
    const float length = std::sqrt(x * x + y * y + z * z);
    v[0] = round_into<Component>(x / length * most);
    v[1] = round_into<Component>(y / length * most);
    v[2] = round_into<Component>(z / length * most);
    return true;
  });
}

void quaternion(std::span<std::uint8_t> data) {
  constexpr float range = 0.70710678f;  // 1 / sqrt(2)
  each_vector<std::int16_t>(data, "the fourth component of a quaternion is negative", [](std::int16_t* v) {
    if (v[3] < 0) return false;
    const float one = static_cast<float>(v[3] | 3);
    const int largest = v[3] & 3;
    const float x = v[0] / one * range, y = v[1] / one * range, z = v[2] / one * range;
    const float w = std::sqrt(std::max(0.0f, 1.0f - x * x - y * y - z * z));
    v[(largest + 1) & 3] = round_into<std::int16_t>(x * 32767.0f);
    v[(largest + 2) & 3] = round_into<std::int16_t>(y * 32767.0f);
    v[(largest + 3) & 3] = round_into<std::int16_t>(z * 32767.0f);
    v[largest] = round_into<std::int16_t>(w * 32767.0f);
    return true;
  });
}

float power_of_two(int exponent) {  // -126 … 127
  return std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 127) << 23);
}

void exponential(std::span<std::uint8_t> data) {
  for (std::size_t i = 0; i < data.size(); i += 4) {
    std::uint32_t bits;
    std::memcpy(&bits, data.data() + i, 4);
    const int exponent = static_cast<std::int32_t>(bits) >> 24;
    const int mantissa = static_cast<std::int32_t>(bits << 8) >> 8;
    // In two steps, because 2^-128 is no normal number; only the second can round.
    const int half = exponent >> 1;
    const float value = static_cast<float>(mantissa) * power_of_two(half) * power_of_two(exponent - half);
    std::memcpy(data.data() + i, &value, 4);
  }
}

template <class Component>
void color(std::span<std::uint8_t> data) {
  using Signed = std::make_signed_t<Component>;
  constexpr float most = std::numeric_limits<Component>::max();
  each_vector<Component>(data, "the fourth component of a color is 0 and gives no scale", [](Component* v) {
    if (v[3] == 0) return false;
    const int full = (1 << std::bit_width(v[3])) - 1;
    const int luma = v[0], orange = static_cast<Signed>(v[1]), green = static_cast<Signed>(v[2]);
    int alpha = v[3] & full >> 1;
    alpha = alpha << 1 | (alpha & 1);
    const float scale = most / static_cast<float>(full);
    v[0] = round_into<Component>(static_cast<float>(luma + orange - green) * scale);
    v[1] = round_into<Component>(static_cast<float>(luma + green) * scale);
    v[2] = round_into<Component>(static_cast<float>(luma - orange - green) * scale);
    v[3] = round_into<Component>(static_cast<float>(alpha) * scale);
    return true;
  });
}

struct Filter {
  std::string_view name;
  bool (*takes)(std::int64_t stride);
  const char* strides;
  void (*run)(std::span<std::uint8_t> data, std::int64_t stride);
};

bool is_4_or_8(std::int64_t stride) { return stride == 4 || stride == 8; }

constexpr Filter kFilters[] = {
    {"OCTAHEDRAL", is_4_or_8, "4 or 8",
     [](std::span<std::uint8_t> data, std::int64_t stride) {
       stride == 4 ? octahedral<std::int8_t>(data) : octahedral<std::int16_t>(data);
     }},
    {"QUATERNION", [](std::int64_t stride) { return stride == 8; }, "8",
     [](std::span<std::uint8_t> data, std::int64_t) { quaternion(data); }},
    {"EXPONENTIAL", [](std::int64_t stride) { return stride > 0 && stride <= 256 && stride % 4 == 0; },
     "a multiple of 4 from 4 to 256", [](std::span<std::uint8_t> data, std::int64_t) { exponential(data); }},
    {"COLOR", is_4_or_8, "4 or 8",
     [](std::span<std::uint8_t> data, std::int64_t stride) {
       stride == 4 ? color<std::uint8_t>(data) : color<std::uint16_t>(data);
     }},
};

const Filter& filter_named(std::string_view name) {
  for (const Filter& filter : kFilters) {
    if (filter.name == name) return filter;
  }
  refuse("filter \"" + std::string(name.substr(0, 32)) +
         "\", expected OCTAHEDRAL, QUATERNION, EXPONENTIAL or COLOR");
}

}  // namespace

void apply_filter(std::span<std::uint8_t> data, std::int64_t count, std::int64_t stride, std::string_view name) {
  const Filter& filter = filter_named(name);
  check_count(count);
  if (!filter.takes(stride)) {
    refuse("stride " + std::to_string(stride) + " with filter " + std::string(name) + ", expected " + filter.strides);
  }
  const std::uint64_t size = static_cast<std::uint64_t>(stride);
  if (data.size() % size != 0 || data.size() / size != static_cast<std::uint64_t>(count)) {
    refuse("filter " + std::string(name) + ": " + std::to_string(data.size()) + " bytes, expected " +
           std::to_string(count) + " elements of " + std::to_string(stride));
  }
  filter.run(data, stride);
}

}  // namespace bunraku::meshopt
