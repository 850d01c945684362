#pragma once
// Memory for large arrays of plain data, on huge pages where the system gives them: a walk touches
// a different page at every step, and a 2 MB page needs 512 times fewer address translations.

#include <cstddef>
#include <utility>

namespace bunraku::bvh {

// Not zeroed. Throws std::bad_alloc. free_pages(nullptr) does nothing.
void* new_pages(std::size_t bytes);
void free_pages(void* memory);

template <typename T>
class Pages {
 public:
  Pages() = default;
  explicit Pages(std::size_t count)
      : data_(count == 0 ? nullptr : static_cast<T*>(new_pages(count * sizeof(T)))), count_(count) {}
  Pages(Pages&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0)) {}
  Pages& operator=(Pages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(count_, other.count_);
    return *this;
  }
  ~Pages() { free_pages(data_); }

  T* data() const { return data_; }
  std::size_t size() const { return count_; }
  std::size_t bytes() const { return count_ * sizeof(T); }
  T& operator[](std::size_t i) const { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace bunraku::bvh
