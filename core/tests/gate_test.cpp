#include "gate.hpp"

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "check.hpp"

using namespace bunraku;

TEST(a_writer_is_alone_and_readers_are_not) {
  Gate gate;
  int a = 0, b = 0;  // equal, but for a writer
  std::atomic<int> unequal{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 2000; ++i) {
        if (t == 0) {
          const std::unique_lock held(gate);
          ++a;
          ++b;
        } else {
          const std::shared_lock held(gate);
          unequal += a != b;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(unequal == 0 && a == 2000 && b == 2000);
  const std::shared_lock one(gate), other(gate);
}

#ifndef _WIN32
namespace {

// How a child process ends that is forked while another thread holds the gate by `Lock`.
template <class Lock>
int child_of(bool (*ask)(Gate&)) {
  Gate gate;
  std::atomic<int> stage{0};
  std::thread holder([&] {
    const Lock held(gate);
    stage = 1;
    while (stage != 2) std::this_thread::yield();
  });
  while (stage != 1) std::this_thread::yield();
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a child that hangs is a failure, not a hang of the tests
    _exit(ask(gate) ? 0 : 1);
  }
  stage = 2;
  holder.join();
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool is_torn(Gate& gate) {
  try {
    const std::shared_lock held(gate);
    return false;
  } catch (const Torn&) {
    return true;
  }
}

}  // namespace

TEST(readers_of_the_parent_do_not_hold_up_its_child) {
  CHECK(child_of<std::shared_lock<Gate>>([](Gate& gate) {
          if (is_torn(gate)) return false;
          const std::unique_lock held(gate);
          return true;
        }) == 0);
}

TEST(what_a_writer_of_the_parent_left_is_torn_in_its_child) {
  CHECK(child_of<std::unique_lock<Gate>>([](Gate& gate) {
          if (!is_torn(gate)) return false;
          { const std::unique_lock held(gate); }  // one that gave up
          if (!is_torn(gate)) return false;
          {
            const std::unique_lock held(gate);
            gate.whole();
          }
          return !is_torn(gate);
        }) == 0);
}
#endif
