#include "analyses/claims/message_rows.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <stdexcept>

#include "core/sizes.h"
#include "windows/memory_budget.h"

namespace semicrf {
std::vector<PositionRange> merged(std::vector<PositionRange> ranges) {
  std::ranges::sort(ranges, {}, &PositionRange::begin);
  std::vector<PositionRange> joined;
  for (const PositionRange& range : ranges) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

MessageRows::MessageRows(std::vector<PositionRange> wanted, std::size_t width)
    : wanted_(std::move(wanted)), width_(width), open_(width * wide(kBlock)), blocks_(kSpoolMemory, "") {
  std::int64_t rows = 0;
  for (const PositionRange& range : wanted_) {
    first_rows_.push_back(rows);
    rows += range.size();
  }
}

void MessageRows::finish() {
  if (rows_ == 0) return;
  const std::span<const double> rows(open_.data(), wide(rows_) * width_);
  blocks_.append(std::as_bytes(rows));
  rows_ = 0;
}

std::vector<double> MessageRows::read(std::int64_t begin, std::int64_t end) const {
  const auto after = std::ranges::upper_bound(wanted_, begin, {}, &PositionRange::begin);
  if (after == wanted_.begin() || end > std::prev(after)->end)
    throw std::logic_error("MessageRows::read: rows that were not kept");
  const auto range = std::prev(after);
  const std::int64_t first = first_rows_[wide(range - wanted_.begin())] + (begin - range->begin);
  const std::int64_t last = first + (end - begin);  // one past it
  std::vector<double> rows;
  rows.reserve(wide(end - begin) * width_);
  std::vector<double> block;
  for (std::int64_t b = first / kBlock; b * kBlock < last; ++b) {
    const auto index = wide(b);
    block.resize(blocks_.blob_size(index) / sizeof(double));
    blocks_.read(index, std::as_writable_bytes(std::span<double>(block)));
    const auto from = wide(std::max(first - b * kBlock, std::int64_t{0})) * width_;
    const auto to = wide(std::min(last - b * kBlock, kBlock)) * width_;
    rows.insert(rows.end(), block.begin() + static_cast<std::ptrdiff_t>(from),
                block.begin() + static_cast<std::ptrdiff_t>(to));
  }
  return rows;
}

}  // namespace semicrf
