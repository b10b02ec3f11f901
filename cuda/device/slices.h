// Arrays side by side in one piece of memory. The same function first measures them (without memory) and then
// slices them, so that a need that is known before a run cannot differ from what the run takes. Plain C++.
#pragma once

#include <cstddef>

#include "core/sizes.h"

namespace semicrf::cuda {

class Slices {
 public:
  // Null: nothing is sliced, bytes are counted.
  explicit Slices(void* memory = nullptr) : memory_(static_cast<unsigned char*>(memory)) {}

  // The next `count` elements; null while bytes are counted.
  template <class T>
  T* add(std::size_t count) {
    T* const slice = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + bytes_);
    bytes_ += round_up(count * sizeof(T), kAlignment);
    return slice;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  static constexpr std::size_t kAlignment = 256;  // what the driver gives for an array of its own

  unsigned char* memory_;
  std::size_t bytes_ = 0;
};

}  // namespace semicrf::cuda
