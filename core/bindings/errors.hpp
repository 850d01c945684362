#pragma once
// Errors that reach Python as those of bunraku.errors.

#include <stdexcept>

namespace bunraku {

struct RigError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace bunraku
