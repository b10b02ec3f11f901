#include "io/segments/boundary_reader.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text/text.h"
#include "io/text/provenance_header.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

enum Column : std::size_t { kChromosome, kPosition, kTo, kLower, kUpper, kNumColumns };
constexpr std::array<std::string_view, kNumColumns> kColumnNames = {"chrom", "position", "to", "lower",
                                                                    "upper"};
using Columns = std::array<std::size_t, kNumColumns>;

// Where the columns are, by the line of their names; nullopt where one is missing.
std::optional<Columns> find_columns(std::string_view names) {
  if (names.starts_with('#')) names.remove_prefix(1);
  const std::vector<std::string_view> fields = split_at('\t', names);
  Columns columns;
  for (std::size_t i = 0; i < kNumColumns; ++i) {
    const auto found = std::ranges::find(fields, kColumnNames[i]);
    if (found == fields.end()) return std::nullopt;
    columns[i] = static_cast<std::size_t>(found - fields.begin());
  }
  return columns;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : lines_(path) {}

  BoundaryTable read() {
    std::string line, names;
    while (lines_.next(line)) {
      if (line.empty()) continue;
      if (line.front() == '#') {
        if (auto option = header_option(line)) table_.options.insert_or_assign(option->first, option->second);
        names = line;
        continue;
      }
      if (!columns_) columns_ = find_columns(names);
      if (!columns_ && (columns_ = find_columns(line))) continue;  // written without comments
      if (!columns_) refuse_table();
      add(split_at('\t', line));
    }
    if (!columns_ && !find_columns(names)) refuse_table();
    return std::move(table_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(lines_.path(), lines_.line_number(), what, "this is not a table of decode --boundaries");
  }
  [[noreturn]] void refuse_table() const {
    throw InputError({lines_.path(), "",
                      "has no header line with the columns chrom, position, to, lower and upper",
                      "give the file that decode --boundaries wrote"});
  }

  std::int64_t number(std::string_view text, Column column) const {
    const auto value = number_in<std::int64_t>(text);
    if (!value || *value < 0)
      refuse(std::string(kColumnNames[column]) + " is '" + std::string(text.substr(0, 40)) +
             "', expected a whole number, 0 or more");
    return *value;
  }

  void add(const std::vector<std::string_view>& fields) {
    const std::size_t needed = *std::ranges::max_element(*columns_) + 1;
    if (fields.size() < needed)
      refuse("found " + std::to_string(fields.size()) + " columns, expected " + std::to_string(needed));
    const auto field = [&](Column column) { return fields[(*columns_)[column]]; };
    BoundaryRecord record;
    record.chromosome = field(kChromosome);
    record.position = number(field(kPosition), kPosition);
    record.to = field(kTo);
    record.line = lines_.line_number();
    if (field(kLower) != ".") {
      record.lower = number(field(kLower), kLower);
      record.upper = number(field(kUpper), kUpper);
      if (*record.lower > record.position || *record.upper < record.position)
        refuse("the interval from " + std::to_string(*record.lower) + " to " + std::to_string(*record.upper) +
               " does not hold its boundary, " + std::to_string(record.position));
    }
    table_.boundaries.push_back(std::move(record));
  }

  TextLines lines_;
  std::optional<Columns> columns_;
  BoundaryTable table_;
};

}  // namespace

BoundaryTable read_boundary_table(const std::string& path) { return Reader(path).read(); }

}  // namespace semicrf
