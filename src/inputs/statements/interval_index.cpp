#include "inputs/statements/interval_index.h"

#include <algorithm>
#include <limits>

namespace semicrf {

void IntervalIndex::add(const std::string& chromosome, std::int64_t begin, std::int64_t end) {
  by_chromosome_[chromosome].push_back({begin, end, end, count_++});
}

void IntervalIndex::finish() {
  for (auto& [chromosome, entries] : by_chromosome_) {
    std::ranges::stable_sort(entries, {}, &Entry::begin);
    fill_last_ends(entries, 0, entries.size());
  }
}

std::int64_t IntervalIndex::fill_last_ends(Entries& entries, std::size_t first, std::size_t stop) {
  if (first == stop) return std::numeric_limits<std::int64_t>::min();
  const std::size_t root = first + (stop - first) / 2;
  entries[root].last_end = std::max(
      {entries[root].end, fill_last_ends(entries, first, root), fill_last_ends(entries, root + 1, stop)});
  return entries[root].last_end;
}

std::vector<std::size_t> IntervalIndex::starting_in(const std::string& chromosome, std::int64_t begin,
                                                    std::int64_t end) const {
  std::vector<std::size_t> numbers;
  const auto known = by_chromosome_.find(chromosome);
  if (known == by_chromosome_.end()) return numbers;
  const Entries& entries = known->second;
  for (auto entry = std::ranges::lower_bound(entries, begin, {}, &Entry::begin);
       entry != entries.end() && entry->begin < end; ++entry)
    numbers.push_back(entry->number);
  std::ranges::sort(numbers);
  return numbers;
}

std::vector<std::size_t> IntervalIndex::overlapping(const std::string& chromosome, std::int64_t begin,
                                                    std::int64_t end) const {
  std::vector<std::size_t> numbers;
  const auto known = by_chromosome_.find(chromosome);
  if (known == by_chromosome_.end()) return numbers;
  collect(known->second, 0, known->second.size(), begin, end, numbers);
  std::ranges::sort(numbers);
  return numbers;
}

void IntervalIndex::collect(const Entries& entries, std::size_t first, std::size_t stop, std::int64_t begin,
                            std::int64_t end, std::vector<std::size_t>& numbers) {
  if (first == stop) return;
  const std::size_t root = first + (stop - first) / 2;
  if (entries[root].last_end <= begin) return;
  collect(entries, first, root, begin, end, numbers);
  if (entries[root].begin >= end) return;
  if (entries[root].end > begin) numbers.push_back(entries[root].number);
  collect(entries, root + 1, stop, begin, end, numbers);
}

}  // namespace semicrf
