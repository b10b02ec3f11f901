#include "pipeline/analyses/claims/message_rows.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include "pipeline/windows/memory_budget.h"

namespace semicrf {
namespace {

constexpr std::int64_t kRowsPerBlock = 256;

}  // namespace

MessageRows::MessageRows(std::vector<PositionRange> wanted, std::size_t width)
    : wanted_(std::move(wanted)), width_(width), blocks_(kSpoolMemory, "") {
  std::int64_t rows = 0;
  for (const PositionRange& range : wanted_) {
    first_rows_.push_back(rows);
    rows += range.size();
  }
}

void MessageRows::append(std::span<const double> row) {
  open_.insert(open_.end(), row.begin(), row.end());
  if (open_.size() < width_ * static_cast<std::size_t>(kRowsPerBlock)) return;
  finish();
}

void MessageRows::finish() {
  if (open_.empty()) return;
  blocks_.append(std::as_bytes(std::span<const double>(open_)));
  open_.clear();
}

std::vector<double> MessageRows::read(std::int64_t begin, std::int64_t end) const {
  const auto after =
      std::ranges::upper_bound(wanted_, begin, {}, [](const PositionRange& r) { return r.begin; });
  if (after == wanted_.begin() || end > std::prev(after)->end)
    throw std::logic_error("MessageRows::read: rows that were not kept");
  const auto range = std::prev(after);
  const std::int64_t first =
      first_rows_[static_cast<std::size_t>(range - wanted_.begin())] + (begin - range->begin);
  const std::int64_t last = first + (end - begin);  // one past it
  std::vector<double> rows;
  rows.reserve(static_cast<std::size_t>(end - begin) * width_);
  std::vector<double> block;
  for (std::int64_t b = first / kRowsPerBlock; b * kRowsPerBlock < last; ++b) {
    const auto index = static_cast<std::size_t>(b);
    block.resize(blocks_.blob_size(index) / sizeof(double));
    blocks_.read(index, std::as_writable_bytes(std::span<double>(block)));
    const auto from = static_cast<std::size_t>(std::max(first - b * kRowsPerBlock, std::int64_t{0})) * width_;
    const auto to = static_cast<std::size_t>(std::min(last - b * kRowsPerBlock, kRowsPerBlock)) * width_;
    rows.insert(rows.end(), block.begin() + static_cast<std::ptrdiff_t>(from),
                block.begin() + static_cast<std::ptrdiff_t>(to));
  }
  return rows;
}

}  // namespace semicrf
