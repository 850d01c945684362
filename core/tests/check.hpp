#pragma once
// The smallest thing that runs tests: TEST(name) { CHECK(condition); } and a main() that counts.

#include <functional>
#include <string>
#include <vector>

namespace bunraku::tests {

struct Test {
  std::string name;
  std::function<void()> body;
};

std::vector<Test>& all();
void fail(const char* file, int line, const std::string& what);

struct Registration {
  Registration(const char* name, std::function<void()> body) { all().push_back({name, std::move(body)}); }
};

}  // namespace bunraku::tests

#define TEST(id)                                                                   \
  static void test_##id();                                                         \
  static const bunraku::tests::Registration registration_##id(#id, &test_##id);    \
  static void test_##id()

#define CHECK(condition) \
  if (!(condition)) bunraku::tests::fail(__FILE__, __LINE__, #condition)
