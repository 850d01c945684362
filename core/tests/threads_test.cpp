#include "threads.hpp"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "check.hpp"

using bunraku::parallel_for;
using bunraku::set_thread_count;

namespace {

bool covers_once(std::int64_t count, std::int64_t grain) {
  std::vector<std::atomic<int>> seen(static_cast<std::size_t>(count));
  parallel_for(count, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) ++seen[static_cast<std::size_t>(i)];
  });
  for (const auto& times : seen) {
    if (times != 1) return false;
  }
  return true;
}

}  // namespace

TEST(negative_thread_count_is_refused) {
  bool refused = false;
  try {
    set_thread_count(-1);
  } catch (const std::invalid_argument&) {
    refused = true;
  }
  CHECK(refused);
}

TEST(every_item_is_visited_once) {
  for (const int threads : {1, 2, 3, 7}) {
    set_thread_count(threads);
    for (const std::int64_t count : {0, 1, 2, 3, 17, 1000, 100003}) {
      for (const std::int64_t grain : {1, 5, 4096}) CHECK(covers_once(count, grain));
    }
  }
  set_thread_count(0);
}

TEST(a_thread_starts_with_its_own_share) {
  set_thread_count(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (int repetition = 0; repetition < 200; ++repetition) {
    std::atomic<std::int64_t> of_caller{-1}, of_worker{-1};
    parallel_for(1000, 1, [&](std::int64_t begin, std::int64_t) {
      std::int64_t none = -1;
      (std::this_thread::get_id() == caller ? of_caller : of_worker).compare_exchange_strong(none, begin);
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(5);
      while (std::chrono::steady_clock::now() < end) {
      }
    });
    // Either may come so late that the other has begun or done its share.
    CHECK(of_caller < 500 && (of_worker == -1 || of_worker >= 500));
  }
  set_thread_count(0);
}

TEST(nested_and_concurrent_jobs_finish) {
  set_thread_count(4);
  std::atomic<int> total{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i) {
    callers.emplace_back([&] {
      for (int k = 0; k < 50; ++k) {
        parallel_for(8, 1, [&](std::int64_t begin, std::int64_t end) {
          parallel_for(end - begin, 1, [&](std::int64_t b, std::int64_t e) { total += int(e - b); });
        });
      }
    });
  }
  for (auto& caller : callers) caller.join();
  CHECK(total == 4 * 50 * 8);
  set_thread_count(0);
}

// Plain numbers on the stack of the caller, at once overwritten: a worker that came late to a job
// and took part in it all the same would be seen by the sanitizers, or add to the wrong sum.
TEST(a_job_is_over_when_the_call_returns) {
  set_thread_count(3);
  for (int job = 0; job < 2000; ++job) {
    int seen[64] = {};
    parallel_for(64, 1, [&, job](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) seen[i] += job;
    });
    int total = 0;
    for (const int times : seen) total += times;
    CHECK(total == 64 * job);
    if (job % 400 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));  // workers fall asleep
  }
  set_thread_count(0);
}

#ifndef _WIN32
TEST(a_forked_child_gets_a_pool_of_its_own) {
  set_thread_count(3);
  CHECK(covers_once(1000, 1));
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);  // a child that hangs is a failure, not a hang of the tests
    _exit(covers_once(1000, 1) ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  set_thread_count(0);
}
#endif
