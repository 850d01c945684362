#include "threads.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <vector>

#ifdef _WIN32
#include <process.h>
#else
#include <unistd.h>
#endif
#ifdef __linux__
#include <sched.h>
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

// How long a thread looks for news before it sleeps: waking one takes about as long (20 to 50 µs),
// and calls that follow one another find it awake.
constexpr std::chrono::microseconds kPatience{50};

void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Returns the first value of `state` for which done(value). Looks for a while, then sleeps until
// told. Offering the processor to others in between was no gain: on a loaded machine the thread
// was then still away when the next job came.
template <class Done>
std::uint32_t await(const std::atomic<std::uint32_t>& state, Done done) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  do {
    for (int i = 0; i < 32; ++i) {
      const std::uint32_t now = state.load(std::memory_order_acquire);
      if (done(now)) return now;
      relax();
    }
  } while (std::chrono::steady_clock::now() < end);
  for (;;) {
    const std::uint32_t now = state.load(std::memory_order_acquire);
    if (done(now)) return now;
    state.wait(now, std::memory_order_acquire);
  }
}

// The processor that the calling thread is on, -1 where none can be told.
int processor() {
#ifdef __linux__
  return sched_getcpu();
#else
  return -1;
#endif
}

// Keeps a worker off the caller's processor when it finds itself there. Linux wakes it next to the
// caller, though others are idle, where these share no cache (in virtual machines, say): it would
// come to every job when the caller has done it.
class Place {
 public:
  void keep_off([[maybe_unused]] int taken) {
#ifdef __linux__
    if (!known_ || taken < 0 || taken >= CPU_SETSIZE || processor() != taken) return;
    cpu_set_t others = allowed_;
    CPU_CLR(static_cast<unsigned>(taken), &others);
    if (CPU_COUNT(&others) > 0) sched_setaffinity(0, sizeof others, &others);
#endif
  }

 private:
#ifdef __linux__
  cpu_set_t allowed_{};
  const bool known_ = sched_getaffinity(0, sizeof allowed_, &allowed_) == 0;
#endif
};

// The part of a job that one thread takes its ranges from first.
struct alignas(64) Share {
  std::atomic<std::int64_t> next{0};
  std::int64_t end = 0;
};

// Every thread has a share of its own, and only when that is done does it take ranges of others',
// so that one that is late or slow does not hold up the rest. The same thread thus meets the same
// items in the next call, with what it read and wrote of them still in its cache: transforms of 64
// frames of 100 joints (float64, two threads) took 30 µs with one counter for all, and take 21.
struct Job {
  const Body& body;
  const std::int64_t step;
  Share* const shares;
  const std::size_t count;

  // Cuts [0, items) into a share for each thread, in whole steps.
  Job(const Body& work, std::int64_t items, std::int64_t range, std::vector<Share>& of_threads, std::size_t threads)
      : body(work), step(range), shares(of_threads.data()), count(threads) {
    const std::int64_t ranges = (items + range - 1) / range, n = static_cast<std::int64_t>(threads);
    for (std::int64_t i = 0; i < n; ++i) {
      shares[i].next.store(ranges * i / n * range, std::memory_order_relaxed);
      shares[i].end = std::min(ranges * (i + 1) / n * range, items);
    }
  }

  void run(std::size_t thread) const noexcept {
    for (std::size_t i = 0; i < count; ++i) {
      Share& share = shares[(thread + i) % count];
      for (;;) {
        const std::int64_t begin = share.next.fetch_add(step, std::memory_order_relaxed);
        if (begin >= share.end) break;
        body(begin, std::min(begin + step, share.end));
      }
    }
  }
};

// Whoever runs a job waits for the workers that are at it, never for one that sleeps still: a job
// is closed when its last range is handed out, and a worker that comes later turns back.
class Pool {
 public:
  explicit Pool(int workers)
      : process_(process_id()), wanted_(workers), shares_(static_cast<std::size_t>(workers) + 1) {
    threads_.reserve(static_cast<std::size_t>(workers));
    try {
      for (int i = 0; i < workers; ++i) threads_.emplace_back([this, i] { work(static_cast<std::size_t>(i) + 1); });
    } catch (const std::system_error&) {
      // The system gives no more threads: those there are do the work.
    }
  }

  ~Pool() {
    stopping_ = true;
    announce();
    for (std::thread& thread : threads_) thread.join();
  }

  int process() const { return process_; }
  int workers() const { return wanted_; }

  // `threads`: how many the work is for, the caller included.
  void run(const Body& body, std::int64_t count, std::int64_t step, std::int64_t threads) {
    const Job job(body, count, step, shares_, static_cast<std::size_t>(threads));
    job_ = &job;
    gate_.fetch_add(kOpen, std::memory_order_release);
    announce();
    job.run(0);
    gate_.fetch_sub(kOpen, std::memory_order_relaxed);
    await(gate_, [](std::uint32_t gate) { return gate == 0; });
  }

 private:
  static constexpr std::uint32_t kOpen = 1u << 31;

  void announce() {
    caller_.store(processor(), std::memory_order_relaxed);
    jobs_.fetch_add(1, std::memory_order_release);
    jobs_.notify_all();
  }

  void work(std::size_t thread) {
    Place place;
    std::uint32_t seen = 0;
    for (;;) {
      seen = await(jobs_, [seen](std::uint32_t jobs) { return jobs != seen; });
      if (stopping_) return;
      place.keep_off(caller_.load(std::memory_order_relaxed));
      if (gate_.fetch_add(1, std::memory_order_acquire) >= kOpen) job_->run(thread);
      if (gate_.fetch_sub(1, std::memory_order_release) == 1) gate_.notify_one();
    }
  }

  const int process_;
  const int wanted_;
  std::vector<Share> shares_;            // one per thread, the caller's first
  const Job* job_ = nullptr;             // of those inside an open gate
  std::atomic<bool> stopping_{false};
  std::atomic<int> caller_{-1};          // the processor it runs on
  alignas(64) std::atomic<std::uint32_t> jobs_{0};  // announced so far
  alignas(64) std::atomic<std::uint32_t> gate_{0};  // workers inside, and whether it is open
  std::vector<std::thread> threads_;
};

// The slot and its lock outlive every static destructor: a worker may still be
// parked in the pool while the process exits.
struct Slot {
  std::unique_ptr<Pool> pool;
  std::atomic<int> owner{0};  // process that holds the slot, 0 = free
};

// Frees the slot also when there is no memory for a pool.
struct Hold {
  Slot& slot;
  ~Hold() { slot.owner.store(0, std::memory_order_release); }
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
  const int available = thread_count();
  const auto threads = std::min<std::int64_t>(available, (count + grain - 1) / grain);
  if (threads <= 1) return body(0, count);

  Slot& held = slot();
  const int process = process_id();
  int owner = held.owner.load(std::memory_order_relaxed);
  // Free, or held by the process this one was forked from (whose holder does not exist here).
  if (owner == process ||
      !held.owner.compare_exchange_strong(owner, process, std::memory_order_acquire)) {
    return body(0, count);
  }
  const Hold hold{held};
  if (held.pool && held.pool->process() != process) {
    [[maybe_unused]] Pool* const lost = held.pool.release();  // its threads stayed in the parent
  }
  const int workers = available - 1;
  if (!held.pool || held.pool->workers() != workers) held.pool = std::make_unique<Pool>(workers);

  const std::int64_t ranges = 4 * threads;
  held.pool->run(body, count, std::max(grain, (count + ranges - 1) / ranges), threads);
}

}  // namespace bunraku
