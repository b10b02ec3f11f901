#include "segmentation/boundary_shifts.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "core/error.h"
#include "core/text/text.h"
#include "core/text/utf8.h"

namespace semicrf {
namespace {

using Boundaries = std::vector<const BoundaryRecord*>;

struct ByChromosome {
  std::vector<std::string> names;  // in the table's order
  std::map<std::string, Boundaries> boundaries;
};

ByChromosome by_chromosome(const BoundaryTable& table) {
  ByChromosome found;
  for (const BoundaryRecord& record : table.boundaries) {
    const auto [place, added] = found.boundaries.try_emplace(record.chromosome);
    if (added) found.names.push_back(record.chromosome);
    place->second.push_back(&record);
  }
  for (auto& [name, boundaries] : found.boundaries)
    std::ranges::stable_sort(boundaries, {}, &BoundaryRecord::position);
  return found;
}

BoundaryShift shift_of(const BoundaryRecord& first, const BoundaryRecord& second) {
  BoundaryShift shift{first.chromosome, first.from, first.to, first.position, second.position, {}, {}};
  if (first.lower && second.lower) {
    shift.lower = *second.lower - *first.upper;
    shift.upper = *second.upper - *first.lower;
  }
  return shift;
}

// Boundaries of both from left to right, those of the first before those of the second at one position: what
// may match are neighbours in this order.
void match(const Boundaries& first, const Boundaries& second, std::vector<BoundaryShift>& shifts) {
  const BoundaryRecord* open = nullptr;  // the boundary before, if it has no match
  bool open_is_first = false;
  for (std::size_t a = 0, b = 0; a < first.size() || b < second.size();) {
    const bool is_first =
        b == second.size() || (a < first.size() && first[a]->position <= second[b]->position);
    const BoundaryRecord* const next = is_first ? first[a++] : second[b++];
    if (open != nullptr && open_is_first != is_first && open->from == next->from && open->to == next->to) {
      shifts.push_back(is_first ? shift_of(*next, *open) : shift_of(*open, *next));
      open = nullptr;
    } else {
      open = next;
      open_is_first = is_first;
    }
  }
}

std::optional<double> level_of(const BoundaryTable& table) {
  const auto found = table.options.find("intervals");
  return found == table.options.end() ? std::nullopt : number_in<double>(found->second);
}

}  // namespace

BoundaryShifts match_boundaries(const BoundaryTable& first, const BoundaryTable& second,
                                const std::string& path) {
  const ByChromosome of_first = by_chromosome(first), of_second = by_chromosome(second);
  BoundaryShifts result;
  bool any = false;
  for (const std::string& name : of_first.names) {
    const auto other = of_second.boundaries.find(name);
    if (other == of_second.boundaries.end()) continue;
    any = true;
    match(of_first.boundaries.at(name), other->second, result.shifts);
  }
  if (!any && !of_first.names.empty() && !of_second.names.empty())
    throw InputError({path, "",
                      "has no chromosome in common with the other table: it has " +
                          few_of(of_second.names, 3) + ", the other " + few_of(of_first.names, 3),
                      "give tables of one genome; chromosome names must match exactly"});
  const auto matched = std::ssize(result.shifts);
  result.unmatched_first = std::ssize(first.boundaries) - matched;
  result.unmatched_second = std::ssize(second.boundaries) - matched;
  if (const auto a = level_of(first), b = level_of(second); a && b) result.level = *a * *b;
  return result;
}

std::string shifts_text(const BoundaryShifts& shifts) {
  const auto or_dot = [](const std::optional<std::int64_t>& value) {
    return value ? fmt::format("{}", *value) : ".";
  };
  std::string text = "chrom\tfrom\tto\tposition_a\tposition_b\tshift\tlower\tupper\tlevel\n";
  for (const BoundaryShift& one : shifts.shifts)
    text +=
        fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", one.chromosome, escape_control(one.from),
                    escape_control(one.to), one.first, one.second, one.shift(), or_dot(one.lower),
                    or_dot(one.upper), one.lower && shifts.level ? formatted("%.6g", *shifts.level) : ".");
  return text;
}

}  // namespace semicrf
