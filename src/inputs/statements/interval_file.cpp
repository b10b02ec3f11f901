#include "inputs/statements/interval_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/sizes.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "io/segments/bed_reader.h"

namespace semicrf {

namespace {

// Rounded down, also below 0.
std::int64_t floor_ratio(std::int64_t value, std::int64_t divisor) {
  return value >= 0 ? value / divisor : -((-value + divisor - 1) / divisor);
}

}  // namespace

InputError IntervalFile::refusal(const IntervalLine& line, const std::string& what,
                                 const std::string& advice) const {
  return InputError(path_, line.line, what, advice);
}

std::vector<IntervalLine> IntervalFile::read() const {
  BedReader reader(path_, BedPoints::kAllowed);
  std::vector<IntervalLine> lines;
  for (BedRecord record; reader.next(record);) {
    lines.push_back({record.chromosome, record.begin, record.end, record.name, record.line});
    if (record.name.empty())
      throw refusal(lines.back(), "there is no " + words_.one + " in column 4", words_.forms);
    if (record.begin == record.end) take_point(lines.back());
  }
  if (lines.empty())
    throw InputError({path_, "", "there is no " + words_.one + " in this file", words_.forms});
  return lines;
}

void IntervalFile::take_point(IntervalLine& line) const {
  const std::string_view kind = std::string_view(line.text).substr(0, line.text.find(':'));
  if (kind != "boundary" && kind != "no-boundary" && kind != "starts")
    throw refusal(line, fmt::format("start and end are both {}: this is a point", line.begin),
                  "only boundary, no-boundary and starts can be said of a point; give an interval");
  line.end = line.begin + 1;
}

Statement IntervalFile::take_apart(const IntervalLine& line, std::span<const StatementKind> kinds) const {
  const std::string& text = line.text;
  const std::size_t colon = text.find(':');
  const bool has_label = colon != std::string::npos;
  const std::string name = text.substr(0, colon);
  const auto kind = std::ranges::find(kinds, name, &StatementKind::name);
  if (kind == kinds.end()) throw refusal(line, in_quotes(text) + " is not a " + words_.one, words_.forms);
  if (kind->has_label && !has_label)
    throw refusal(line, "the " + words_.one + " " + in_quotes(text) + " has no label",
                  "write " + text + ":LABEL");
  if (!kind->has_label && has_label)
    throw refusal(line,
                  "the " + words_.one + " " + in_quotes(text) + " has a label, but is about any of them",
                  "write " + name);
  return {wide(kind - kinds.begin()), has_label ? text.substr(colon + 1) : ""};
}

int IntervalFile::find_label(const IntervalLine& line, const std::string& name,
                             const std::vector<Label>& labels) const {
  const auto found = std::ranges::find(labels, name, &Label::name);
  if (found == labels.end())
    throw refusal(line, "the model has no label " + in_quotes(name),
                  "its labels are " + joined(names_of(labels), ", "));
  return static_cast<int>(found - labels.begin());
}

void IntervalFile::check_place(const IntervalLine& line, const InputSet& inputs) const {
  const std::optional<std::int64_t> length = inputs.end_of(line.chromosome);
  if (!length)
    throw refusal(line, "no input has the chromosome " + line.chromosome,
                  "chromosome names must match exactly, including any \"chr\" prefix");
  if (line.end > *length)
    throw refusal(line,
                  fmt::format("the {} ends at {} {}, but {} has {}", words_.one, units().one, line.end,
                              line.chromosome, amount(*length)),
                  words_.one + "s must lie on their chromosome");
}

PositionRange bins_of(const IntervalLine& line, const BinLocation& piece) {
  const std::int64_t first = piece.begin_base(0);
  return {floor_ratio(line.begin - first, piece.bin_size),
          floor_ratio(line.end - first + piece.bin_size - 1, piece.bin_size)};
}

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
