#include "core/text/names.h"

#include <fmt/format.h>

#include <limits>

#include "core/error.h"
#include "core/text/text.h"
#include "core/text/utf8.h"

namespace semicrf {

std::string name_problem(std::string_view name) {
  if (name.empty()) return "a name must not be empty";
  switch (text_fault(name)) {
    case TextFault::kControl:
      return "a name must not contain control characters";
    case TextFault::kNotUtf8:
      return "a name must be valid UTF-8";
    case TextFault::kNone:
      break;
  }
  return "";
}

std::string sequence_name_problem(std::string_view name) {
  if (std::string problem = name_problem(name); !problem.empty()) return problem;
  return name.front() == '#' ? "a sequence name must not begin with #, which begins comments in BED files"
                             : "";
}

void check_label_count(std::size_t labels, const std::string& path, const std::string& where) {
  if (labels <= static_cast<std::size_t>(kMaxLabels)) return;
  throw InputError({path, where, fmt::format("there are more than {} different labels", kMaxLabels),
                    "column 4 must hold the label, not the name of a segment"});
}

namespace {

// Insertions, deletions and replacements between two words, one row of the table at a time.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (lower(a[i - 1]) == lower(b[j - 1]) ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known) {
  std::string_view nearest;
  std::size_t smallest = std::numeric_limits<std::size_t>::max();
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(name.substr(0, 64), candidate);
    if (distance < smallest) {
      smallest = distance;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace semicrf
