#include "reads/read_counter.h"

namespace semicrf {

ReadCounter::ReadCounter(const ReadGrid& grid, const CountedFile& counted, const ExcludedBases& excluded,
                         std::size_t chromosome, std::int64_t begin, std::int64_t end)
    : counted_(counted),
      duplicates_(counted.options),
      begin_base_(begin * grid.bin),
      end_base_(end * grid.bin),
      tile_bases_(grid.tile_bins() * grid.bin) {
  for (const auto& store : counted.counts)
    counters_.emplace_back(grid, counted.options, excluded, *store).begin(chromosome, begin, end);
}

bool ReadCounter::add(const Read& read) {
  if (counted_.groups == nullptr) return !duplicates_.keep(read, 0) || counters_.front().add(read);
  const bool is_here = read.begin >= begin_base_ && read.begin < end_base_;  // not in the bins before
  const auto cell = counted_.groups->find(counted_.sample, read.barcode);
  if (!cell) {
    if (is_here) counted_.tally->add_other(read.barcode);
    return true;
  }
  if (is_here) counted_.tally->add_cell(cell->number);
  return !duplicates_.keep(read, cell->number) || counters_[cell->group].add(read);
}

void ReadCounter::pass(std::int64_t base) {
  if (base < passed_ + tile_bases_) return;
  passed_ = base / tile_bases_ * tile_bases_;
  for (TileCounter& counter : counters_) counter.pass(passed_);
}

void ReadCounter::end() {
  for (TileCounter& counter : counters_) counter.end();
}

}  // namespace semicrf
