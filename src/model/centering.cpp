#include "model/centering.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

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

SequenceMean::SequenceMean(std::size_t columns)
    : partial_(columns, 0.0), sum_(columns, 0.0), compensation_(columns, 0.0), forbidden_(columns, 0) {}

void SequenceMean::add(const float* rows, std::int64_t begin, std::int64_t end) {
  add_rows(rows, begin, end);
}
void SequenceMean::add(const double* rows, std::int64_t begin, std::int64_t end) {
  add_rows(rows, begin, end);
}

template <class Value>
void SequenceMean::add_rows(const Value* rows, std::int64_t begin, std::int64_t end) {
  if (begin < next_ || end < begin) throw std::logic_error("rows of a sequence mean come out of order");
  const std::size_t columns = partial_.size();
  constexpr Value infinity = std::numeric_limits<Value>::infinity();
  while (begin < end) {
    const std::int64_t block = begin / kBlock;
    if (block != block_) {
      flush();
      block_ = block;
    }
    const std::int64_t stop = std::min(end, (block + 1) * kBlock);
    const std::size_t count = static_cast<std::size_t>(stop - begin) * columns;
    int masked = 0;  // at most kBlock * columns
    for (std::size_t i = 0; i < count; ++i) masked += rows[i] <= static_cast<Value>(kMaskScore) ? 1 : 0;
    for (const Value* row = rows; row != rows + count; row += columns) {
      if (masked == 0) {
        for (std::size_t c = 0; c < columns; ++c) partial_[c] += static_cast<double>(row[c]);
      } else {
        for (std::size_t c = 0; c < columns; ++c) {
          const bool allowed = row[c] != -infinity;
          partial_[c] += allowed ? static_cast<double>(row[c]) : 0.0;
          forbidden_[c] += allowed ? 0 : 1;
        }
      }
    }
    masked_ += masked;
    rows_ += stop - begin;
    rows += count;
    begin = stop;
  }
  next_ = end;
}

void SequenceMean::flush() {
  for (std::size_t c = 0; c < partial_.size(); ++c) {
    const double next = sum_[c] + partial_[c];
    const bool sum_is_larger = std::fabs(sum_[c]) >= std::fabs(partial_[c]);
    compensation_[c] += sum_is_larger ? (sum_[c] - next) + partial_[c] : (partial_[c] - next) + sum_[c];
    sum_[c] = next;
    partial_[c] = 0;
  }
}

std::vector<double> SequenceMean::mean() const {
  SequenceMean closed = *this;
  closed.flush();
  std::vector<double> result(partial_.size(), 0.0);
  for (std::size_t c = 0; c < result.size(); ++c) {
    const std::int64_t entries = rows_ - forbidden_[c];
    if (entries > 0) result[c] = (closed.sum_[c] + closed.compensation_[c]) / static_cast<double>(entries);
  }
  return result;
}

}  // namespace semicrf
