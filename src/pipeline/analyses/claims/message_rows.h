// Rows of numbers of some positions of a sequence, kept for a later pass: in memory while they are few, else
// in a temporary file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "io/files/temp_spool.h"

namespace semicrf {

class MessageRows {
 public:
  // Of the positions of `wanted`, which are sorted and do not touch; `width` numbers each.
  MessageRows(std::vector<PositionRange> wanted, std::size_t width);

  // Calls row(t) for every wanted position t of [begin, end) and keeps what it gives, `width` numbers. Ranges
  // follow each other from 0 on; finish() after the last.
  template <class Row>
  void take(PositionRange range, Row row) {
    for (; next_ < wanted_.size() && wanted_[next_].begin < range.end; ++next_) {
      const std::int64_t begin = std::max(wanted_[next_].begin, range.begin);
      for (std::int64_t t = begin; t < std::min(wanted_[next_].end, range.end); ++t) append(row(t));
      if (wanted_[next_].end > range.end) return;
    }
  }
  void finish();

  // The rows of [begin, end), all of one wanted range, from the first to the last. Several threads may read.
  std::vector<double> read(std::int64_t begin, std::int64_t end) const;

 private:
  void append(std::span<const double> row);

  std::vector<PositionRange> wanted_;
  std::vector<std::int64_t> first_rows_;  // of the wanted ranges
  std::size_t width_;
  std::size_t next_ = 0;
  std::vector<double> open_;  // a block that is not full yet
  TempSpool blocks_;
};

}  // namespace semicrf
