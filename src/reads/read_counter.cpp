#include "reads/read_counter.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/error.h"
#include "core/text/text.h"
#include "io/text/text_lines.h"

namespace semicrf {

namespace {

// Places of the two columns.
struct Columns {
  std::size_t barcode = 0, group = 1;
};

std::string lowered(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), lower);
  return result;
}

// Nothing where the line is no header: none of its fields is "barcode".
std::optional<Columns> columns_of(const std::vector<std::string_view>& fields) {
  Columns columns{fields.size(), fields.size()};
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string name = lowered(fields[i]);
    if (name == "barcode") columns.barcode = std::min(columns.barcode, i);
    if (name == "group" || name == "cluster") columns.group = std::min(columns.group, i);
  }
  if (columns.barcode == fields.size()) return std::nullopt;
  if (columns.group == fields.size() && fields.size() == 2) columns.group = 1 - columns.barcode;
  return columns;
}

std::string key_of(std::string_view sample, std::string_view barcode) {
  return std::string(sample) + "\n" + std::string(barcode);
}

}  // namespace

CellGroups::CellGroups(const std::string& path, const std::vector<std::string>& samples) : path_(path) {
  TextLines lines(path);
  std::vector<std::string> group_of_cell;
  Columns columns;
  std::string line;
  bool first = true;
  while (lines.next(line)) {
    if (line.find_first_not_of(" \t") == std::string::npos || line.front() == '#') continue;
    const std::vector<std::string_view> fields =
        split_at(line.find('\t') == std::string::npos ? ',' : '\t', line);
    const auto header = first ? columns_of(fields) : std::nullopt;
    first = false;
    const auto refuse = [&](const std::string& what, const std::string& advice) {
      return InputError(path, lines.line_number(), what, advice);
    };
    if (header) {
      columns = *header;
      if (columns.group == fields.size())
        throw refuse("the header line has no column group or cluster", "name the column of the groups so");
      continue;
    }
    if (std::max(columns.barcode, columns.group) >= fields.size() || fields[columns.barcode].empty() ||
        fields[columns.group].empty())
      throw refuse("there is no barcode with a group in this line",
                   "give two columns, barcode and group, separated by tabs or commas");
    const std::string_view barcode = fields[columns.barcode], group = fields[columns.group];
    if (const std::string problem = name_problem(group); !problem.empty())
      throw refuse("the group " + problem, "give the group another name");
    std::string key(barcode);
    for (const std::string& sample : samples) {
      if (sample.empty() || barcode.size() <= sample.size() + 1 || !barcode.starts_with(sample) ||
          std::string_view("#_:").find(barcode[sample.size()]) == std::string_view::npos)
        continue;
      key = key_of(sample, barcode.substr(sample.size() + 1));
      by_sample_ = true;
    }
    const auto [cell, is_new] = cells_.add(key);
    if (is_new) {
      group_of_cell.emplace_back(group);
      if (example_.empty()) example_ = barcode;
    } else if (group_of_cell[cell] != group) {
      throw refuse("the barcode " + std::string(barcode) + " is in the groups " + group_of_cell[cell] +
                       " and " + std::string(group),
                   "give each barcode once");
    }
  }
  if (group_of_cell.empty())
    throw InputError({path, "", "there is no barcode in this table", "give two columns, barcode and group"});
  names_ = group_of_cell;
  std::ranges::sort(names_, natural_less);
  names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
  const NameIndex groups = NameIndex::of(names_);
  for (const std::string& group : group_of_cell) group_of_.push_back(*groups.find(group));
}

std::optional<CellGroups::Cell> CellGroups::find(const std::string& sample, std::string_view barcode) const {
  auto cell = by_sample_ ? cells_.find(key_of(sample, barcode)) : std::nullopt;
  if (!cell) cell = cells_.find(barcode);
  if (!cell) return std::nullopt;
  return Cell{*cell, group_of_[*cell]};
}

void CellTally::add_other(std::string_view barcode) {
  ++(barcode.empty() ? without_ : others_);
  if (barcode.empty()) return;
  const std::lock_guard lock(mutex_);
  if (example_.empty() || barcode < example_) example_ = barcode;
}

std::int64_t CellTally::cells_found() const {
  return std::ranges::count_if(found_, [](const auto& one) { return one.load() != 0; });
}

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
