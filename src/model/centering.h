// The sequence mean nu of `mean` centring, and the names of the centrings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

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
  static constexpr std::int64_t kBlock = 4096;

  explicit SequenceMean(std::size_t columns);

  // Rows of positions [begin, end), (end-begin, columns) row-major, no NaN or +inf. Calls come in order of
  // position; positions that are left out (missing or excluded bins) do not count.
  void add(const float* rows, std::int64_t begin, std::int64_t end);
  void add(const double* rows, std::int64_t begin, std::int64_t end);

  std::int64_t rows() const { return rows_; }
  // Entries <= kMaskScore seen, -inf included.
  std::int64_t masked() const { return masked_; }
  // (columns); 0 for a column without a finite entry.
  std::vector<double> mean() const;

 private:
  template <class Value>
  void add_rows(const Value* rows, std::int64_t begin, std::int64_t end);
  void flush();

  std::int64_t next_ = 0;    // first position that may still be added
  std::int64_t block_ = -1;  // absolute block of the open partial sums
  std::int64_t rows_ = 0;
  std::int64_t masked_ = 0;
  std::vector<double> partial_;          // (columns) sums of the open block
  std::vector<double> sum_;              // (columns) closed blocks
  std::vector<double> compensation_;     // (columns) rounding lost by sum_
  std::vector<std::int64_t> forbidden_;  // (columns) entries of -inf
};

}  // namespace semicrf
