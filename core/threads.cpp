#include "threads.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif

namespace bunraku {
namespace {

using Body = std::function<void(std::int64_t, std::int64_t)>;

int process_id() {
#ifdef _WIN32
  return _getpid();
#else
  return static_cast<int>(getpid());
#endif
}

int default_thread_count() {
  const char* wanted = std::getenv("BUNRAKU_THREADS");
  const int count = wanted != nullptr ? std::atoi(wanted) : 0;
  return count > 0 ? count : std::max(1u, std::thread::hardware_concurrency());
}

std::atomic<int> chosen_count{0};

// Ranges are handed out by an atomic counter, four per thread, so that a thread
// that is late or slow does not hold up the others.
struct Job {
  const Body* body = nullptr;
  std::int64_t count = 0;
  std::int64_t step = 0;
  std::atomic<std::int64_t> next{0};

  void run() {
    for (;;) {
      const std::int64_t begin = next.fetch_add(step, std::memory_order_relaxed);
      if (begin >= count) return;
      (*body)(begin, std::min(begin + step, count));
    }
  }
};

class Pool {
 public:
  explicit Pool(int workers) : process_(process_id()) {
    threads_.reserve(static_cast<std::size_t>(workers));
    for (int i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
  }

  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  int process() const { return process_; }
  int workers() const { return static_cast<int>(threads_.size()); }

  void run(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      ++generation_;
      running_ = workers();
    }
    wake_.notify_all();
    job.run();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return running_ == 0; });
    job_ = nullptr;
  }

 private:
  void work() {
    std::uint64_t seen = 0;
    for (;;) {
      Job* job = nullptr;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
        if (stopping_) return;
        seen = generation_;
        job = job_;
      }
      job->run();
      const std::lock_guard lock(mutex_);
      if (--running_ == 0) done_.notify_one();
    }
  }

  const int process_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Job* job_ = nullptr;
  std::uint64_t generation_ = 0;
  int running_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

// The slot and its lock outlive every static destructor: a worker may still be
// parked in the pool while the process exits.
struct Slot {
  std::unique_ptr<Pool> pool;
  std::atomic<int> owner{0};  // process that holds the slot, 0 = free
};

Slot& slot() {
  static Slot* const forever = std::make_unique<Slot>().release();
  return *forever;
}

}  // namespace

int thread_count() {
  const int chosen = chosen_count.load(std::memory_order_relaxed);
  static const int standard = default_thread_count();
  return chosen > 0 ? chosen : standard;
}

void set_thread_count(int count) {
  if (count < 0) throw std::invalid_argument("thread count must not be negative");
  chosen_count.store(count, std::memory_order_relaxed);
}

void parallel_for(std::int64_t count, std::int64_t grain, const Body& body) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  const auto threads = std::min<std::int64_t>(thread_count(), (count + grain - 1) / grain);
  if (threads <= 1) return body(0, count);

  Slot& held = slot();
  const int process = process_id();
  int owner = held.owner.load(std::memory_order_relaxed);
  // Free, or held by the process this one was forked from (whose holder does not exist here).
  if (owner == process ||
      !held.owner.compare_exchange_strong(owner, process, std::memory_order_acquire)) {
    return body(0, count);
  }
  if (held.pool && held.pool->process() != process) {
    [[maybe_unused]] Pool* const lost = held.pool.release();  // its threads stayed in the parent
  }
  const int workers = thread_count() - 1;
  if (!held.pool || held.pool->workers() != workers) held.pool = std::make_unique<Pool>(workers);

  const std::int64_t ranges = 4 * threads;
  Job job;
  job.body = &body;
  job.count = count;
  job.step = std::max(grain, (count + ranges - 1) / ranges);
  held.pool->run(job);
  held.owner.store(0, std::memory_order_release);
}

}  // namespace bunraku
