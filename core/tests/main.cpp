#include <cstdio>

#include "check.hpp"

namespace bunraku::tests {

static int failures = 0;

std::vector<Test>& all() {
  static std::vector<Test> tests;
  return tests;
}

void fail(const char* file, int line, const std::string& what) {
  std::printf("%s:%d: %s\n", file, line, what.c_str());
  ++failures;
}

}  // namespace bunraku::tests

int main() {
  int failed = 0;
  for (const auto& test : bunraku::tests::all()) {
    const int before = bunraku::tests::failures;
    test.body();
    if (bunraku::tests::failures != before) {
      std::printf("FAILED %s\n", test.name.c_str());
      ++failed;
    }
  }
  std::printf("%zu passed, %d failed\n", bunraku::tests::all().size() - failed, failed);
  return failed == 0 ? 0 : 1;
}
