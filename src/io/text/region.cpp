#include "io/text/region.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/error.h"
#include "core/text/text.h"
#include "io/segments/bed_reader.h"
#include "io/text/text_lines.h"

namespace semicrf {
namespace {

// A 1-based position with thousands commas; nothing when it is not one or too large.
std::optional<std::int64_t> parse_position(std::string_view text) {
  constexpr std::int64_t kLargest = std::int64_t{1} << 60;
  if (text.empty() || text.front() == ',') return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c == ',') continue;
    if (c < '0' || c > '9' || value > kLargest / 10) return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// First and last position, 1-based and inclusive; absent: the chromosome's own.
struct Interval {
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> last;
};

// "beg-end", "beg-", "beg", "-end".
std::optional<Interval> parse_interval(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::string_view first = text.substr(0, dash);
  const std::string_view last = dash == std::string_view::npos ? std::string_view() : text.substr(dash + 1);
  if (first.empty() && last.empty()) return std::nullopt;
  const Interval interval{parse_position(first), parse_position(last)};
  if ((!first.empty() && !interval.first) || (!last.empty() && !interval.last)) return std::nullopt;
  return interval;
}

UsageError refuse(std::string_view text, const std::string& what, const std::string& advice) {
  return UsageError("region '" + std::string(text) + "': " + what, advice);
}

// What the text says: a known chromosome, and the part after its colon when there is one.
struct Reading {
  const Chromosome* chromosome = nullptr;
  std::optional<std::string_view> interval;
};

// The text is fine, but it does not fit the inputs.
InputError mismatch(std::string_view text, const std::string& what, const std::string& advice) {
  return InputError({"", "region '" + std::string(text) + "'", what, advice});
}

InputError unknown_chromosome(std::string_view text, std::string_view name, const ChromosomeIndex& known) {
  return mismatch(text,
                  "there is no chromosome '" + std::string(name) + "' in the inputs, which have " +
                      chromosome_names(known.list()),
                  "chromosome names must match exactly, including any \"chr\" prefix");
}

Reading read_braces(std::string_view text, const ChromosomeIndex& known) {
  const std::size_t close = text.find('}');
  if (close == std::string_view::npos || (close + 1 < text.size() && text[close + 1] != ':')) {
    throw refuse(text, "the braces do not enclose a name", "write {name}:begin-end");
  }
  const std::string_view name = text.substr(1, close - 1);
  Reading reading{known.find(name), std::nullopt};
  if (reading.chromosome == nullptr) throw unknown_chromosome(text, name, known);
  if (close + 1 < text.size()) reading.interval = text.substr(close + 2);
  return reading;
}

Reading read_plain(std::string_view text, const ChromosomeIndex& known) {
  const Chromosome* const whole = known.find(text);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    if (whole == nullptr) throw unknown_chromosome(text, text, known);
    return {whole, std::nullopt};
  }
  const std::string_view name = text.substr(0, colon);
  const std::string_view interval = text.substr(colon + 1);
  const Chromosome* const part = known.find(name);
  const bool is_interval = parse_interval(interval).has_value();
  if (whole != nullptr && part != nullptr && is_interval) {
    throw refuse(text, "is both the name of a chromosome and a part of another chromosome",
                 "write {" + std::string(text) + "} or {" + std::string(name) + "}:" + std::string(interval));
  }
  if (whole != nullptr) return {whole, std::nullopt};
  if (part == nullptr) throw unknown_chromosome(text, is_interval ? name : text, known);
  return {part, interval};
}

Region resolve(std::string_view text, const Reading& reading) {
  const Chromosome& chromosome = *reading.chromosome;
  if (!reading.interval) return {chromosome.name, 0, chromosome.length};
  const auto interval = parse_interval(*reading.interval);
  if (!interval) {
    throw refuse(text, "'" + std::string(*reading.interval) + "' is not a range of positions",
                 "write chromosome:begin-end, counted from 1, both ends included");
  }
  const std::int64_t first = interval->first.value_or(1);
  const std::int64_t last = interval->last.value_or(chromosome.length);
  if (first < 1) throw refuse(text, "positions are counted from 1", "write chromosome:begin-end");
  if (first > chromosome.length) {
    throw mismatch(text, "begins after the end of the chromosome, which has " + amount(chromosome.length),
                   "check the genome version");
  }
  if (last < first)
    throw refuse(text, "the end is smaller than the begin", "write the smaller position first");
  return {chromosome.name, first - 1, std::min(last, chromosome.length)};
}

}  // namespace

Region parse_region(std::string_view text, const ChromosomeIndex& chromosomes) {
  if (text.empty()) throw UsageError("a region is empty", "write chromosome:begin-end");
  return resolve(text, text.front() == '{' ? read_braces(text, chromosomes) : read_plain(text, chromosomes));
}

std::vector<Region> read_regions(const std::string& bed_path, RegionRole role,
                                 const ChromosomeIndex& chromosomes, std::vector<Warning>& warnings) {
  BedReader reader(bed_path);
  BedRecord record;
  std::vector<Region> regions;
  std::vector<std::string> strangers;  // chromosomes that only the BED file knows
  NameIndex is_stranger;
  std::size_t unused = 0;
  while (reader.next(record)) {
    const Chromosome* const chromosome = chromosomes.find(record.chromosome);
    if (chromosome == nullptr) {
      ++unused;
      if (is_stranger.add(record.chromosome).second) strangers.push_back(record.chromosome);
      continue;
    }
    if (record.begin >= chromosome->length) {
      throw InputError(bed_path, record.line,
                       fmt::format("begins at {}:{} (0-based), beyond the chromosome's {}", record.chromosome,
                                   record.begin, amount(chromosome->length)),
                       "check the genome version");
    }
    regions.push_back({record.chromosome, record.begin, std::min(record.end, chromosome->length)});
  }
  if (regions.empty() && !strangers.empty()) {
    throw InputError({bed_path, "",
                      "no chromosome in common with the inputs: the regions are on " + few_names(strangers) +
                          ", the inputs have " + chromosome_names(chromosomes.list()),
                      "chromosome names must match exactly, including any \"chr\" prefix"});
  }
  const bool included = role == RegionRole::kIncluded;
  if (regions.empty() && included)
    throw InputError(
        {bed_path, "", "has no region, so that nothing is left", "give regions, or leave the option out"});
  if (regions.empty())
    warnings.push_back({"nothing-excluded", bed_path + " has no interval: nothing is excluded"});
  if (unused > 0)
    warnings.push_back(
        {"regions-not-used",
         fmt::format("{} of {}{} of {} are on chromosomes that the inputs do not have: {}", unused,
                     unused + regions.size(), included ? " regions" : " excluded intervals", bed_path,
                     few_names(strangers))});
  return regions;
}

std::vector<std::string> read_region_texts(const std::string& path) {
  TextLines lines(path);
  std::vector<std::string> texts;
  for (std::string line; lines.next(line);) {
    if (line.empty() || line.front() == '#') continue;
    const std::vector<std::string_view> fields = split_at('\t', line);
    if (fields.size() < 3) {
      texts.emplace_back(fields.front());
      continue;
    }
    const auto begin = number_in<std::int64_t>(std::string(fields[1]));
    const auto end = number_in<std::int64_t>(std::string(fields[2]));
    if (!begin || !end || *begin < 0)
      throw InputError(path, lines.line_number(), "columns 2 and 3 are no positions",
                       "give chr, chr:begin-end or BED");
    texts.push_back(fmt::format("{{{}}}:{}-{}", std::string(fields[0]), *begin + 1, *end));
  }
  if (texts.empty()) throw InputError({path, "", "there is no region in this file", "give one in each line"});
  return texts;
}

}  // namespace semicrf
