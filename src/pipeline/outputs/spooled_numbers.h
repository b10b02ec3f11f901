// A long list of numbers, written once and read left to right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace semicrf {

class TempSpool;

// Beyond a few MiB it lives in a temporary file.
class SpooledNumbers {
 public:
  SpooledNumbers();
  ~SpooledNumbers();
  SpooledNumbers(SpooledNumbers&&) noexcept;
  SpooledNumbers& operator=(SpooledNumbers&&) noexcept;

  void append(double number);
  std::int64_t size() const { return count_; }

  class Reader {
   public:
    explicit Reader(const SpooledNumbers& list) : list_(&list) {}
    // The next number; false at the end. Do not append meanwhile.
    bool next(double& number);

   private:
    const SpooledNumbers* list_;
    std::int64_t index_ = 0;
    std::vector<double> block_;
  };

 private:
  void load_block(std::size_t index, std::vector<double>& block) const;

  std::int64_t count_ = 0;
  std::vector<double> open_block_;    // appended last, fewer than a whole block
  std::unique_ptr<TempSpool> spool_;  // whole blocks
};

}  // namespace semicrf
