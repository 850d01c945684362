#pragma once
// Which instruction set the kernels run at: decided once, at import.

#include <string_view>
#include <vector>

namespace bunraku {

enum class Level { baseline, avx2, avx512 };

std::string_view name(Level level);

// Every level this processor and operating system can run, lowest first.
std::vector<Level> available_levels();

// The highest available level, or the one BUNRAKU_ISA names.
// Throws std::runtime_error when BUNRAKU_ISA names a level that is unknown or not available.
Level active_level();

}  // namespace bunraku

// One table of functions per kernel family and level: `BUNRAKU_DECLARE_KERNELS(SkinningKernels,
// skinning_kernels)` after the struct declares the tables and the function that picks one.
#ifdef BUNRAKU_X86
#define BUNRAKU_DECLARE_KERNELS(Table, function)                     \
  namespace baseline { extern const Table function; }                \
  namespace avx2 { extern const Table function; }                    \
  namespace avx512 { extern const Table function; }                  \
  inline const Table& function##_at(Level level) {                   \
    switch (level) {                                                 \
      case Level::avx512: return avx512::function;                   \
      case Level::avx2: return avx2::function;                       \
      default: return baseline::function;                            \
    }                                                                \
  }
#else
#define BUNRAKU_DECLARE_KERNELS(Table, function)                     \
  namespace baseline { extern const Table function; }                \
  inline const Table& function##_at(Level) { return baseline::function; }
#endif
