#include "model/scores/centering.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "core/counts.h"
#include "core/row_view.h"
#include "core/sizes.h"

namespace semicrf {
namespace {

constexpr std::array<std::pair<Centering, std::string_view>, 4> kCenteringNames{{
    {Centering::kMean, "mean"},
    {Centering::kNone, "none"},
    {Centering::kPositionMax, "position-max"},
    {Centering::kMeanPreserving, "mean-preserving"},
}};

}  // namespace

std::string_view centering_name(Centering centering) {
  for (const auto& [value, name] : kCenteringNames) {
    if (value == centering) return name;
  }
  throw std::logic_error("unknown centring");
}

std::optional<Centering> centering_from_name(std::string_view name) {
  for (const auto& [value, known] : kCenteringNames) {
    if (known == name) return value;
  }
  return std::nullopt;
}

SequenceMean::SequenceMean(std::size_t columns, int threads)
    : in_blocks_({std::vector<double>(columns), std::vector<std::int64_t>(columns), 0}),
      sums_(columns),
      forbidden_(columns),
      threads_(threads) {}

void SequenceMean::add(const float* rows, std::int64_t begin, std::int64_t end) {
  add_rows(rows, begin, end);
}
void SequenceMean::add(const double* rows, std::int64_t begin, std::int64_t end) {
  add_rows(rows, begin, end);
}

// `count` rows of one block.
template <class Value>
void SequenceMean::add_block(const Value* rows, std::size_t count, Partial& partial) {
  constexpr Value infinity = std::numeric_limits<Value>::infinity();
  const std::size_t columns = partial.sum.size();
  int masked = 0;  // at most kBlock * columns
  for (std::size_t i = 0; i < count * columns; ++i)
    masked += rows[i] <= static_cast<Value>(kMaskScore) ? 1 : 0;
  for (const Value* row = rows; row != rows + count * columns; row += columns) {
    if (masked == 0) {
      for (std::size_t c = 0; c < columns; ++c) partial.sum[c] += row[c];
    } else {
      for (std::size_t c = 0; c < columns; ++c) {
        const bool allowed = row[c] != -infinity;
        partial.sum[c] += allowed ? row[c] : 0.0;
        partial.forbidden[c] += allowed ? 0 : 1;
      }
    }
  }
  partial.masked += masked;
}

template <class Value>
void SequenceMean::add_rows(const Value* rows, std::int64_t begin, std::int64_t end) {
  if (begin < next_ || end < begin) throw std::logic_error("rows of a sequence mean come out of order");
  const auto visit = [&](std::int64_t from, std::int64_t to, Partial& partial) {
    add_block(rows + (from - begin) * sums_.size(), to - from, partial);
  };
  in_blocks_.add(begin, end, threads_, visit, [&](const Partial& block) { close(block); });
  rows_ += end - begin;
  next_ = end;
}

void SequenceMean::add(const BlockSums& blocks, std::int64_t rows) {
  const std::size_t columns = sums_.size();
  const std::int64_t count = (rows + kBlock - 1) / kBlock;
  if (next_ != 0 || blocks.sums.size() != count * columns || blocks.forbidden.size() != columns)
    throw std::logic_error("sums of blocks do not fit a sequence mean");
  for (std::int64_t block = 0; block < count; ++block)
    for (std::size_t c = 0; c < columns; ++c) sums_[c].add(RowView(blocks.sums, columns)(block, c));
  forbidden_ = blocks.forbidden;
  masked_ = blocks.masked;
  rows_ = next_ = rows;
}

void SequenceMean::close(const Partial& block) {
  for (std::size_t c = 0; c < sums_.size(); ++c) {
    sums_[c].add(block.sum[c]);
    forbidden_[c] += block.forbidden[c];
  }
  masked_ += block.masked;
}

std::vector<double> SequenceMean::mean() const {
  SequenceMean closed = *this;
  closed.close(in_blocks_.open());
  std::vector<double> result(sums_.size(), 0.0);
  for (std::size_t c = 0; c < result.size(); ++c) {
    const std::int64_t entries = rows_ - closed.forbidden_[c];
    if (entries > 0) result[c] = ratio(closed.sums_[c].value(), entries);
  }
  return result;
}

}  // namespace semicrf
