// A long list of plain values, written once and read block by block.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/files/temp_spool.h"
#include "windows/memory_budget.h"

namespace semicrf {

// Beyond `memory_limit` bytes it lives in a temporary file.
template <class Value>
class SpooledArray {
 public:
  static constexpr std::int64_t kBlock = 4096;  // values

  explicit SpooledArray(std::size_t memory_limit = kSpoolMemory)
      : spool_(std::make_unique<TempSpool>(memory_limit, "")) {}

  void append(const Value& value) {
    open_block_.push_back(value);
    ++size_;
    if (size_ % kBlock != 0) return;
    spool_->append(std::as_bytes(std::span<const Value>(open_block_)));
    open_block_.clear();
  }
  std::int64_t size() const { return size_; }

  // The values of block `index`, which begins at index * kBlock.
  void load_block(std::int64_t index, std::vector<Value>& block) const {
    if (index == std::ssize(*spool_)) {
      block = open_block_;
      return;
    }
    block.resize(kBlock);
    spool_->read(index, std::as_writable_bytes(std::span<Value>(block)));
  }

  // `count` values from `first` on. Several threads may ask.
  std::vector<Value> values(std::int64_t first, std::int64_t count) const {
    std::vector<Value> found, block;
    while (count > 0) {
      load_block(first / kBlock, block);
      const std::int64_t begin = first % kBlock, taken = std::min(count, kBlock - begin);
      found.insert(found.end(), block.begin() + begin, block.begin() + begin + taken);
      first += taken;
      count -= taken;
    }
    return found;
  }

  // Reads from the first value to the last. Nothing may be appended meanwhile.
  class Reader {
   public:
    explicit Reader(const SpooledArray& list) : list_(&list) {}
    // The next value; false at the end.
    bool next(Value& value) {
      if (index_ == list_->size()) return false;
      if (index_ % kBlock == 0) list_->load_block(index_ / kBlock, block_);
      value = block_[index_++ % kBlock];
      return true;
    }

   private:
    const SpooledArray* list_;
    std::int64_t index_ = 0;
    std::vector<Value> block_;
  };

 private:
  std::int64_t size_ = 0;
  std::vector<Value> open_block_;     // appended last, fewer than a whole block
  std::unique_ptr<TempSpool> spool_;  // whole blocks
};

using SpooledNumbers = SpooledArray<double>;

}  // namespace semicrf
