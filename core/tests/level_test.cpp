#include "level.hpp"

#include "check.hpp"

TEST(the_baseline_is_always_available) {
  const auto levels = bunraku::available_levels();
  CHECK(!levels.empty() && levels.front() == bunraku::Level::baseline);
  CHECK(bunraku::name(levels.front()) == "baseline");
}
