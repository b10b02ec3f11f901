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
#include "core/threads/parallel.h"

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

SequenceMean::SequenceMean(std::size_t columns, int threads) : sums_(columns), threads_(threads) {
  open_.sum.assign(columns, 0.0);
  open_.forbidden.assign(columns, 0);
}

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
  const std::size_t columns = sums_.size();
  const auto rows_from = [&](std::int64_t position) { return rows + (position - begin) * columns; };
  // Blocks that lie in the call as a whole.
  const std::int64_t first = (begin + kBlock - 1) / kBlock;
  const std::int64_t last = end / kBlock;
  std::vector<Partial> whole(threads_ > 1 && last > first ? wide(last - first) : 0);
  if (!whole.empty()) {
    parallel_for(threads_, whole.size(), [&](std::int64_t i, int) {
      whole[i].sum.assign(columns, 0.0);
      whole[i].forbidden.assign(columns, 0);
      const std::int64_t position = (first + i) * kBlock;
      add_block(rows_from(position), kBlock, whole[i]);
    });
  }
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t block = at / kBlock;
    if (block != block_) {
      flush();
      block_ = block;
    }
    const std::int64_t stop = std::min(end, (block + 1) * kBlock);
    if (!whole.empty() && block >= first && block < last) {
      const Partial& partial = whole[block - first];
      open_.sum = partial.sum;
      for (std::size_t c = 0; c < columns; ++c) open_.forbidden[c] += partial.forbidden[c];
      open_.masked += partial.masked;
    } else {
      add_block(rows_from(at), stop - at, open_);
    }
    at = stop;
  }
  rows_ += end - begin;
  next_ = end;
}

void SequenceMean::add(const BlockSums& blocks, std::int64_t rows) {
  const std::size_t columns = sums_.size();
  const std::int64_t count = (rows + kBlock - 1) / kBlock;
  if (next_ != 0 || blocks.sums.size() != count * columns || blocks.forbidden.size() != columns)
    throw std::logic_error("sums of blocks do not fit a sequence mean");
  for (std::int64_t block = 0; block < count; ++block) {
    std::ranges::copy(RowView(blocks.sums, columns).row(block), open_.sum.begin());
    flush();
  }
  open_.forbidden = blocks.forbidden;
  open_.masked = blocks.masked;
  rows_ = next_ = rows;
}

void SequenceMean::flush() {
  std::vector<double>& partial = open_.sum;
  for (std::size_t c = 0; c < partial.size(); ++c) {
    sums_[c].add(partial[c]);
    partial[c] = 0;
  }
}

std::vector<double> SequenceMean::mean() const {
  SequenceMean closed = *this;
  closed.flush();
  std::vector<double> result(sums_.size(), 0.0);
  for (std::size_t c = 0; c < result.size(); ++c) {
    const std::int64_t entries = rows_ - open_.forbidden[c];
    if (entries > 0) result[c] = ratio(closed.sums_[c].value(), entries);
  }
  return result;
}

}  // namespace semicrf
