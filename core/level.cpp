#include "level.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#ifdef BUNRAKU_X86
#include <cpuid.h>
#endif

namespace bunraku {
namespace {

constexpr std::array kLevels{Level::baseline, Level::avx2, Level::avx512};

#ifdef BUNRAKU_X86
// XCR0: which register files the operating system saves. Asked by hand because
// __builtin_cpu_supports needs compiler-rt, which clang-cl does not link.
std::uint64_t saved_registers() {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<std::uint64_t>(high) << 32) | low;
}

Level highest_level() {
  std::uint32_t a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return Level::baseline;
  constexpr std::uint32_t kFma = 1u << 12, kOsxsave = 1u << 27, kAvx = 1u << 28;
  if ((c & kFma) == 0 || (c & kOsxsave) == 0 || (c & kAvx) == 0) return Level::baseline;
  const std::uint64_t saved = saved_registers();
  if ((saved & 0x6) != 0x6) return Level::baseline;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return Level::baseline;
  if ((b & (1u << 5)) == 0) return Level::baseline;
  constexpr std::uint32_t kF = 1u << 16, kDq = 1u << 17, kBw = 1u << 30, kVl = 1u << 31;
  constexpr std::uint32_t kAll = kF | kDq | kBw | kVl;
  return (saved & 0xe6) == 0xe6 && (b & kAll) == kAll ? Level::avx512 : Level::avx2;
}
#else
Level highest_level() { return Level::baseline; }
#endif

Level choose() {
  const char* wanted = std::getenv("BUNRAKU_ISA");
  if (wanted == nullptr || *wanted == '\0') return highest_level();
  std::string known;
  for (const Level level : available_levels()) {
    if (name(level) == wanted) return level;
    known += (known.empty() ? "" : ", ") + std::string(name(level));
  }
  throw std::runtime_error("BUNRAKU_ISA=" + std::string(wanted) +
                           ": expected one of the levels this processor has: " + known);
}

}  // namespace

std::string_view name(Level level) {
  switch (level) {
    case Level::avx512: return "avx512";
    case Level::avx2: return "avx2";
    default: return "baseline";
  }
}

std::vector<Level> available_levels() {
  const auto end = std::find(kLevels.begin(), kLevels.end(), highest_level());
  return {kLevels.begin(), end + 1};
}

Level active_level() {
  static const Level level = choose();
  return level;
}

}  // namespace bunraku
