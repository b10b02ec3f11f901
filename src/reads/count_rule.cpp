#include "reads/count_rule.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"

namespace semicrf {
namespace {

constexpr std::int64_t kMostBases = 100'000'000;
constexpr int kMostFlags = 65535, kMostQuality = 255;

constexpr auto kParts =
    std::to_array<std::pair<std::string_view, CountedPart>>({{"start", CountedPart::kStart},
                                                             {"centre", CountedPart::kCentre},
                                                             {"overlap", CountedPart::kOverlap},
                                                             {"span", CountedPart::kSpan},
                                                             {"depth", CountedPart::kDepth}});
constexpr auto kKeys = std::to_array<std::string_view>(
    {"mapq", "include", "exclude", "strand", "count", "shift", "extend", "fragments", "mixed", "keep-dup"});

std::int64_t number_of(std::string_view key, std::string_view value, std::int64_t least, std::int64_t most) {
  const auto number = number_in<std::int64_t>(value);
  if (!number || *number < least || *number > most)
    throw UsageError("the option " + std::string(key) + " of a file of reads is '" + std::string(value) + "'",
                     fmt::format("give a whole number from {} to {}", least, most));
  return *number;
}

void set_option(std::string_view key, std::string_view value, CountRule& options) {
  if (key == "mapq") {
    options.filter.min_mapq = static_cast<int>(number_of(key, value, 0, kMostQuality));
  } else if (key == "include") {
    options.filter.include_flags = static_cast<unsigned>(number_of(key, value, 0, kMostFlags));
  } else if (key == "exclude") {
    options.filter.exclude_flags = static_cast<unsigned>(number_of(key, value, 0, kMostFlags));
  } else if (key == "strand") {
    if (value != "+" && value != "-")
      throw UsageError("the option strand of a file of reads is '" + std::string(value) + "'", "give + or -");
    options.strand = value == "+" ? ReadStrand::kForward : ReadStrand::kReverse;
  } else if (key == "count") {
    options.part = counted_part_of(value);
  } else if (key == "shift") {
    options.shift = number_of(key, value, -kMostBases, kMostBases);
  } else if (key == "extend") {
    options.extend = number_of(key, value, 0, kMostBases);
  } else if (key == "mixed") {
    options.mixed = number_of(key, value, 0, 1) != 0;
  } else if (key == "keep-dup") {
    options.keep_duplicates = number_of(key, value, 0, kMostBases);
  } else {
    options.fragments = true;
    options.longest_fragment = number_of(key, value, 1, kMostBases);
  }
}

}  // namespace

std::int64_t CountRule::reach() const {
  return std::abs(shift) + std::max(extend, fragments ? longest_fragment : 0);
}

std::string_view counted_part_name(CountedPart part) {
  return std::ranges::find(kParts, part, &std::pair<std::string_view, CountedPart>::second)->first;
}

CountedPart counted_part_of(std::string_view name) {
  const auto found = std::ranges::find(kParts, name, &std::pair<std::string_view, CountedPart>::first);
  if (found == kParts.end())
    throw UsageError("'" + std::string(name) + "' is nothing that can be counted of reads",
                     "give start, centre, overlap, span or depth");
  return found->second;
}

void check_count_rule(const CountRule& options) {
  if (options.mixed && !options.fragments)
    throw UsageError("single reads are mixed with fragments", "give --fragments with --mixed");
  if (options.fragments && !options.mixed && (options.shift != 0 || options.extend != 0))
    throw UsageError("fragments are neither shifted nor extended",
                     "leave --fragments, or --shift and --extend, out; or give --mixed for single reads");
  if (options.fragments && options.part == CountedPart::kStart)
    throw UsageError("fragments have no start in a direction", "give --count centre, overlap, span or depth");
}

CountRule parse_count_rule(std::string_view text) {
  CountRule options;
  bool part_given = false;
  std::vector<std::string_view> given;
  for (const std::string_view option : split_at('&', text)) {
    if (text.empty()) break;
    const std::size_t equals = std::min(option.find('='), option.size());
    const std::string_view key = option.substr(0, equals);
    if (std::ranges::find(kKeys, key) == kKeys.end())
      throw UsageError("a file of reads has no option '" + std::string(key) + "'",
                       "did you mean " + std::string(nearest_name(key, kKeys)) + "?");
    if (std::ranges::find(given, key) != given.end())
      throw UsageError("the option " + std::string(key) + " of a file of reads is given twice");
    given.push_back(key);
    part_given = part_given || key == "count";
    set_option(key, option.substr(std::min(equals + 1, option.size())), options);
  }
  if (options.fragments && !part_given) options.part = CountedPart::kCentre;
  check_count_rule(options);
  return options;
}

std::string count_rule_text(const CountRule& options) {
  const CountRule usual;
  std::string text;
  const auto add = [&](std::string_view key, const std::string& value) {
    if (!text.empty()) text += '&';
    text.append(key).append("=").append(value);
  };
  const auto add_number = [&](std::string_view key, auto value, auto usual_value) {
    if (value != usual_value) add(key, fmt::to_string(value));
  };
  add_number("mapq", options.filter.min_mapq, usual.filter.min_mapq);
  add_number("include", options.filter.include_flags, usual.filter.include_flags);
  add_number("exclude", options.filter.exclude_flags, usual.filter.exclude_flags);
  if (options.strand != usual.strand) add("strand", options.strand == ReadStrand::kForward ? "+" : "-");
  const CountedPart usual_part = options.fragments ? CountedPart::kCentre : CountedPart::kStart;
  if (options.part != usual_part) add("count", std::string(counted_part_name(options.part)));
  add_number("shift", options.shift, usual.shift);
  add_number("extend", options.extend, usual.extend);
  if (options.fragments) add("fragments", fmt::to_string(options.longest_fragment));
  add_number("mixed", options.mixed ? 1 : 0, 0);
  add_number("keep-dup", options.keep_duplicates, usual.keep_duplicates);
  return text;
}

}  // namespace semicrf
