#pragma once
// Readers together, a writer alone, safe across fork().
//
// A child process inherits a std::shared_mutex as it stands, but not the threads that hold it, and
// waits for them for ever. This one knows the process it was last passed in: what the threads of
// another held is free. What a writer among them had not finished is torn, and readers are told so.

#include <atomic>
#include <cstdint>
#include <exception>

namespace bunraku {

struct Torn : std::exception {
  const char* what() const noexcept override { return "a writer was lost halfway"; }
};

// For std::shared_lock and std::unique_lock.
class Gate {
 public:
  // Throws Torn when a writer was lost halfway, and none has said since that all is whole.
  void lock_shared();
  void unlock_shared();
  void lock();
  void unlock();

  // Says, by the writer inside, that it has come to its end.
  void whole();

 private:
  // The process's generation above; whether what is behind is torn, whether a writer is inside, and
  // how many readers are.
  std::atomic<std::uint64_t> state_{0};
};

}  // namespace bunraku
