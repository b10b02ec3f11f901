// The sequence mean nu of `mean` centring, and the names of the centrings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/compensated_sum.h"
#include "core/sum_in_blocks.h"
#include "model/parameters.h"

namespace semicrf {

std::string_view centering_name(Centering centering);
std::optional<Centering> centering_from_name(std::string_view name);

// Scores at or below this are masks; under `mean` they ruin nu (warning masked-mean).
inline constexpr double kMaskScore = -1e6;

// Per-column mean over the bins of one sequence, in double: plain sums within blocks of kBlock absolute
// positions, block sums added in order with compensation. The result depends on the rows and their positions
// only, not on how they were cut into calls. Entries of -inf (forbidden) take no part in their column's mean.
class SequenceMean {
 public:
  static constexpr std::int64_t kBlock = BlockSums::kPositions;

  // `threads` add up the blocks of a call; the result is the same.
  explicit SequenceMean(std::size_t columns, int threads = 1);

  // Rows of positions [begin, end), (end-begin, columns) row-major, no NaN or +inf. Calls come in order of
  // position; positions that are left out (missing or excluded bins) do not count.
  void add(const float* rows, std::int64_t begin, std::int64_t end);
  void add(const double* rows, std::int64_t begin, std::int64_t end);

  // All `rows` positions of the sequence, whose sums were made elsewhere with kMaskScore as the mask.
  void add(const BlockSums& blocks, std::int64_t rows);

  std::int64_t rows() const { return rows_; }
  // Entries <= kMaskScore seen, -inf included.
  std::int64_t masked() const { return masked_ + in_blocks_.open().masked; }
  // (columns); 0 for a column without a finite entry.
  std::vector<double> mean() const;

 private:
  // Sums over the rows of one block.
  struct Partial {
    std::vector<double> sum;              // (columns)
    std::vector<std::int64_t> forbidden;  // (columns) entries of -inf
    std::int64_t masked = 0;
  };
  template <class Value>
  void add_rows(const Value* rows, std::int64_t begin, std::int64_t end);
  template <class Value>
  static void add_block(const Value* rows, std::size_t count, Partial& partial);
  // Adds a block that is over.
  void close(const Partial& block);

  std::int64_t next_ = 0;  // first position that may still be added
  std::int64_t rows_ = 0;
  SumInBlocks<Partial> in_blocks_;
  std::vector<CompensatedSum> sums_;     // (columns) closed blocks
  std::vector<std::int64_t> forbidden_;  // (columns) their entries of -inf
  std::int64_t masked_ = 0;
  int threads_;
};

}  // namespace semicrf
