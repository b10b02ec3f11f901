// Arrays whose bytes are counted, and a limit that is checked before anything is taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace semicrf::lab {

// A computation that would need more than the limit; it has taken nothing yet.
class MemoryRefused : public std::runtime_error {
 public:
  MemoryRefused(std::size_t wanted, std::size_t limit)
      : std::runtime_error(std::to_string(wanted) + " bytes are needed, " + std::to_string(limit) +
                           " are allowed; take a smaller T, K or C, or another backend") {}
};

// Counts what a backend holds at any time.
class Memory {
 public:
  explicit Memory(std::size_t limit = ~std::size_t{0}) : limit_(limit) {}
  std::size_t peak() const { return peak_; }
  // Called with the predicted peak before a backend starts.
  void refuse_more_than_limit(std::size_t predicted) const {
    if (predicted > limit_) throw MemoryRefused(predicted, limit_);
  }
  void take(std::size_t bytes) { peak_ = std::max(peak_, held_ += bytes); }
  void give_back(std::size_t bytes) { held_ -= bytes; }

 private:
  std::size_t limit_, held_ = 0, peak_ = 0;
};

// A vector that tells `memory` of its size. Moves, does not copy.
template <class Value>
class Array {
 public:
  Array() = default;
  Array(Memory& memory, std::size_t count, const Value& fill) : memory_(&memory), values_(count, fill) {
    memory_->take(bytes());
  }
  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Array() {
    if (memory_ != nullptr) memory_->give_back(bytes());
  }
  Value& operator[](std::size_t i) { return values_[i]; }
  const Value& operator[](std::size_t i) const { return values_[i]; }
  Value* data() { return values_.data(); }
  const Value* data() const { return values_.data(); }
  std::size_t size() const { return values_.size(); }
  std::size_t bytes() const { return values_.size() * sizeof(Value); }

 private:
  void swap(Array& other) {
    std::swap(memory_, other.memory_);
    values_.swap(other.values_);
  }
  Memory* memory_ = nullptr;
  std::vector<Value> values_;
};

}  // namespace semicrf::lab
