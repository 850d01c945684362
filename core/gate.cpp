#include "gate.hpp"

#ifndef _WIN32
#include <pthread.h>
#endif

namespace bunraku {
namespace {

constexpr std::uint64_t kTorn = 1u << 31, kWriting = 1u << 30, kReaders = kWriting - 1;

// How often this process's ancestors forked, itself included. The system's number of the process
// says as much, but asking for it takes longer than a ray.
std::atomic<std::uint32_t> generation{0};

#ifndef _WIN32
[[maybe_unused]] const int kWatching =
    pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1, std::memory_order_relaxed); });
#endif

std::uint64_t as_of_now(std::uint64_t state) {
  const std::uint64_t now = generation.load(std::memory_order_relaxed);
  if (state >> 32 == now) return state;
  return now << 32 | ((state & (kTorn | kWriting)) != 0 ? kTorn : 0);
}

}  // namespace

void Gate::lock_shared() {
  std::uint64_t seen = state_.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t state = as_of_now(seen);
    if ((state & kTorn) != 0 && (state & kWriting) == 0) throw Torn();
    if ((state & kWriting) != 0) {
      state_.wait(seen, std::memory_order_relaxed);
      seen = state_.load(std::memory_order_relaxed);
    } else if (state_.compare_exchange_weak(seen, state + 1, std::memory_order_acquire, std::memory_order_relaxed)) {
      return;
    }
  }
}

void Gate::unlock_shared() {
  if ((state_.fetch_sub(1, std::memory_order_release) & kReaders) == 1) state_.notify_all();
}

void Gate::lock() {
  std::uint64_t seen = state_.load(std::memory_order_relaxed);
  for (;;) {
    const std::uint64_t state = as_of_now(seen);
    if ((state & (kWriting | kReaders)) != 0) {
      state_.wait(seen, std::memory_order_relaxed);
      seen = state_.load(std::memory_order_relaxed);
    } else if (state_.compare_exchange_weak(seen, state | kWriting, std::memory_order_acquire,
                                            std::memory_order_relaxed)) {
      return;
    }
  }
}

void Gate::unlock() {
  state_.fetch_and(~kWriting, std::memory_order_release);
  state_.notify_all();
}

void Gate::whole() { state_.fetch_and(~kTorn, std::memory_order_relaxed); }

}  // namespace bunraku
