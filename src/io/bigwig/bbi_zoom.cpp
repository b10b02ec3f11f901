#include "io/bigwig/bbi_zoom.h"

#include <algorithm>

namespace semicrf {
namespace {
constexpr std::size_t kRecords = 512;  // per block
constexpr std::size_t kMostLevels = 10;
constexpr std::int64_t kFactor = 4;
}  // namespace

BbiZoom::BbiZoom(std::int64_t finest, std::int64_t longest, Emit emit) : emit_(std::move(emit)) {
  std::int64_t reduction = std::max<std::int64_t>(1, finest);
  do {
    levels_.emplace_back().reduction = reduction;
    reduction *= kFactor;
  } while (levels_.size() < kMostLevels && reduction < longest);
}

void BbiZoom::add(std::uint32_t chrom, std::int64_t begin, std::int64_t end, double value) {
  const auto bases = static_cast<double>(end - begin);
  summary_.minimum = summary_.bases_covered == 0 ? value : std::min(summary_.minimum, value);
  summary_.maximum = summary_.bases_covered == 0 ? value : std::max(summary_.maximum, value);
  summary_.bases_covered += static_cast<std::uint64_t>(end - begin);
  summary_.sum += bases * value;
  summary_.sum_of_squares += bases * value * value;
  // Records begin at multiples of their width.
  const std::int64_t width = levels_.front().reduction;
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t stop = std::min(end, (at / width + 1) * width);
    const auto part = static_cast<double>(stop - at);
    add_part(0, {chrom, static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(stop),
                 static_cast<std::uint32_t>(stop - at), value, value, part * value, part * value * value});
    at = stop;
  }
}

// `part` lies within one record of the level.
void BbiZoom::add_part(std::size_t level, const Record& part) {
  Level& zoom = levels_[level];
  Record& open = zoom.open;
  if (open.covered > 0 && open.begin / zoom.reduction != part.begin / zoom.reduction) end_record(level);
  if (open.covered == 0) {
    open = part;
    return;
  }
  open.end = part.end;
  open.covered += part.covered;
  open.minimum = std::min(open.minimum, part.minimum);
  open.maximum = std::max(open.maximum, part.maximum);
  open.sum += part.sum;
  open.squares += part.squares;
}

void BbiZoom::end_record(std::size_t level) {
  Level& zoom = levels_[level];
  const Record record = zoom.open;
  if (record.covered == 0) return;
  zoom.open = {};
  if (zoom.waiting == 0) {
    zoom.range.chrom = record.chrom;
    zoom.range.begin = record.begin;
  }
  zoom.range.last_chrom = record.chrom;
  zoom.range.end = record.end;
  for (const std::uint32_t number : {record.chrom, record.begin, record.end, record.covered})
    put_number(zoom.block, number);
  for (const double number : {record.minimum, record.maximum, record.sum, record.squares})
    put_number(zoom.block, static_cast<float>(number));
  ++zoom.waiting;
  if (zoom.waiting == kRecords) end_block(level);
  if (level + 1 < levels_.size()) add_part(level + 1, record);
}

void BbiZoom::end_block(std::size_t level) {
  Level& zoom = levels_[level];
  if (zoom.waiting == 0) return;
  emit_(level, zoom.block, zoom.range);
  zoom.written += static_cast<std::uint32_t>(zoom.waiting);
  zoom.waiting = 0;
  zoom.block.clear();
}

void BbiZoom::end_chromosome() {
  for (std::size_t level = 0; level < levels_.size(); ++level) end_record(level);
}

void BbiZoom::end() {
  end_chromosome();
  for (std::size_t level = 0; level < levels_.size(); ++level) end_block(level);
}

}  // namespace semicrf
