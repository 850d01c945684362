#include "bvh/pages.hpp"

#include <cstdlib>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace bunraku::bvh {
namespace {

constexpr std::size_t kLine = 64;
constexpr std::size_t kHuge = std::size_t{1} << 21;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

void* new_pages(std::size_t bytes) {
#ifdef _WIN32
  void* const memory = _aligned_malloc(rounded(bytes, kLine), kLine);
#else
  const std::size_t unit = bytes >= kHuge ? kHuge : kLine;
  void* const memory = std::aligned_alloc(unit, rounded(bytes, unit));
#endif
  if (memory == nullptr) throw std::bad_alloc();
#ifdef __linux__
  if (unit == kHuge) static_cast<void>(madvise(memory, rounded(bytes, unit), MADV_HUGEPAGE));
#endif
  return memory;
}

void free_pages(void* memory) {
#ifdef _WIN32
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

}  // namespace bunraku::bvh
