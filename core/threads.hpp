#pragma once
// One small thread pool, safe across fork().
//
// OpenMP and naive pools hang in a child process after fork(): the child inherits
// the pool's state but not its threads. This one remembers the process it was made
// in and starts afresh when it finds itself in another.
//
// Handing a job out costs under 1 µs while the workers are awake, which they stay for 50 µs after
// a job, and 2 to 4 µs when they sleep; a worker that wakes too late leaves the job to the caller.

#include <cstdint>
#include <functional>

namespace bunraku {

// Threads a large job is spread over, the caller's included:
// set_thread_count(), else BUNRAKU_THREADS, else the processor's count.
int thread_count();

// 0 returns to the default. Throws std::invalid_argument when negative.
void set_thread_count(int count);

// Calls body(begin, end) for consecutive ranges of at least `grain` items that cover [0, count).
// Runs on the caller's thread alone when one range is enough, or when the pool is busy with
// another caller's job. body must not throw.
void parallel_for(std::int64_t count, std::int64_t grain,
                  const std::function<void(std::int64_t, std::int64_t)>& body);

}  // namespace bunraku
