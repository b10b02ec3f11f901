// Rows of numbers of some positions of a sequence, kept for a later pass: in memory while they are few, else
// in a temporary file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/engine.h"
#include "io/files/temp_spool.h"

namespace semicrf {

// The ranges sorted, with those that touch merged.
std::vector<PositionRange> merged(std::vector<PositionRange> ranges);

class MessageRows {
 public:
  // Rows of `width` numbers for the positions of `wanted`, which are sorted and do not touch.
  MessageRows(std::vector<PositionRange> wanted, std::size_t width);

  // Calls fill(begin, end, rows) for stretches [begin, end) of wanted positions in `range`; it writes (end -
  // begin) rows of `width` numbers. Ranges follow each other from 0 on; finish() after the last.
  template <class Fill>
  void take(PositionRange range, Fill fill) {
    for (; next_ < wanted_.size() && wanted_[next_].begin < range.end; ++next_) {
      std::int64_t t = std::max(wanted_[next_].begin, range.begin);
      const std::int64_t stop = std::min(wanted_[next_].end, range.end);
      while (t < stop) {
        const std::int64_t end = std::min(stop, t + kBlock - rows_);
        fill(t, end, open_.data() + static_cast<std::size_t>(rows_) * width_);
        rows_ += end - t;
        t = end;
        if (rows_ == kBlock) finish();
      }
      if (wanted_[next_].end > range.end) return;
    }
  }
  void finish();

  // The rows of [begin, end), all of one wanted range, from the first to the last. Several threads may read.
  std::vector<double> read(std::int64_t begin, std::int64_t end) const;

 private:
  static constexpr std::int64_t kBlock = 256;  // rows

  std::vector<PositionRange> wanted_;
  std::vector<std::int64_t> first_rows_;  // first row of each wanted range
  std::size_t width_;
  std::size_t next_ = 0;
  std::vector<double> open_;  // a block that is not full yet
  std::int64_t rows_ = 0;     // rows in open_
  TempSpool blocks_;
};

}  // namespace semicrf
