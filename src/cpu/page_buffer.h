// A large array in anonymous memory, in huge pages where the system grants them: a window's messages are
// written once and read once, so the time to get the pages shows.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

namespace semicrf::cpu {

class PageBuffer {
 public:
  PageBuffer() = default;
  explicit PageBuffer(std::size_t bytes) : bytes_(bytes) {
    if (bytes == 0) return;
    void* memory =
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::byte*>(memory);
    madvise(memory, bytes, MADV_HUGEPAGE);  // only a wish
  }
  ~PageBuffer() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  PageBuffer(PageBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  PageBuffer& operator=(PageBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  std::byte* data() { return data_; }
  std::size_t size() const { return bytes_; }

 private:
  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

// Keeps one buffer that was given back, so that a window need not ask the system for the pages of the last
// one again.
class PagePool {
 public:
  PageBuffer take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const bool fits = spare_.size() >= bytes && spare_.size() / 2 <= bytes;
    PageBuffer taken = fits ? std::move(spare_) : PageBuffer();
    spare_ = PageBuffer();
    return fits ? std::move(taken) : PageBuffer(bytes);
  }
  void give_back(PageBuffer buffer) {
    const std::lock_guard lock(mutex_);
    spare_ = std::move(buffer);
  }
  void clear() { give_back(PageBuffer()); }

 private:
  std::mutex mutex_;
  PageBuffer spare_;
};

}  // namespace semicrf::cpu
