#include "io/tracks/methylation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "io/segments/bed_reader.h"
#include "io/tracks/site_text.h"

namespace semicrf {
namespace {

// Fields of bedMethyl, from 0; modkit goes on where ENCODE ends.
enum BedMethyl : std::size_t {
  kName = 3,
  kStrand = 5,
  kColor = 8,
  kCoverage = 9,
  kPercent = 10,
  kModified = 11
};
enum Column : std::size_t { kMethylated, kAll };
constexpr std::size_t kModkitFields = 18, kBismarkFields = 6;
constexpr auto kEncodeFields = std::to_array<std::size_t>({11, 14});  // 14: with the genotype of the sample
constexpr auto kFiveMethylC = std::to_array<std::string_view>({"m", "27551"});  // 27551: its number in ChEBI
constexpr std::int64_t kMostCalls = 1'000'000'000;

// Between tabs and blanks: modkit writes both in one line.
void split_blanks(std::string_view line, std::vector<std::string_view>& fields) {
  fields.clear();
  const char* const end = line.data() + line.size();
  for (const char* at = line.data(); at < end; ++at) {
    const char* const begin = at;
    while (at < end && *at != '\t' && *at != ' ') ++at;
    if (at > begin) fields.emplace_back(begin, at - begin);
  }
}

std::optional<std::int64_t> calls_in(std::string_view field) {
  const auto number = number_in<std::int64_t>(field);
  return number && *number >= 0 && *number <= kMostCalls ? number : std::nullopt;
}

std::optional<double> percent_in(std::string_view field) {
  const auto number = number_in<double>(field);
  return number && *number >= 0 && *number <= 100 ? number : std::nullopt;
}

bool is_color(std::string_view field) {
  return field.find_first_not_of("0123456789,") == std::string_view::npos &&
         (field == "0" || std::ranges::count(field, ',') == 2);
}

bool has_interval(const std::vector<std::string_view>& fields, std::int64_t least) {
  const auto begin = number_in<std::int64_t>(fields[1]), end = number_in<std::int64_t>(fields[2]);
  return begin && end && *begin >= 0 && *end >= *begin + least;
}

bool is_bed_methyl(const std::vector<std::string_view>& fields) {
  const bool known = fields.size() == kModkitFields ||
                     std::ranges::find(kEncodeFields, fields.size()) != kEncodeFields.end();
  return known && has_interval(fields, 1) && fields[kStrand].size() == 1 &&
         std::string_view("+-.").find(fields[kStrand]) != std::string_view::npos &&
         is_color(fields[kColor]) && calls_in(fields[kCoverage]) && percent_in(fields[kPercent]) &&
         (fields.size() != kModkitFields || calls_in(fields[kModified]));
}

// Bismark: chromosome, start, end, percentage, methylated and other calls. Start and end count from 1 and are
// the same (.cov), or count from 0 (.zero.cov).
bool is_bismark(const std::vector<std::string_view>& fields) {
  constexpr double kRounding = 0.51;  // per cent
  if (fields.size() != kBismarkFields || !has_interval(fields, 0)) return false;
  const auto begin = number_in<std::int64_t>(fields[1]), end = number_in<std::int64_t>(fields[2]);
  const auto percent = percent_in(fields[3]);
  const auto methylated = calls_in(fields[4]), other = calls_in(fields[5]);
  if (*end > *begin + 1 || !percent || !methylated || !other) return false;
  const auto all = static_cast<double>(*methylated + *other);
  return all == 0 || std::abs(*percent - 100 * static_cast<double>(*methylated) / all) < kRounding;
}

bool is_five_methyl_c(std::string_view name) {
  const std::string_view code = name.substr(0, name.find(','));  // "m,CG,0": with the motif
  return std::ranges::find(kFiveMethylC, code) != kFiveMethylC.end();
}

class MethylationReader : public SiteTextReader {
 public:
  MethylationReader(const TrackText& text, std::span<const std::size_t> columns, std::int64_t bin_size)
      : SiteTextReader(text, columns, bin_size), is_bismark_(text.format == TrackTextFormat::kBismark) {}

 private:
  void take(const Counts& site, Counts& bin) const override {
    bin[kMethylated] += site[kMethylated];
    bin[kAll] += site[kAll];
  }

  // The next site with a call that counts; false at the end.
  bool next_site() override {
    while (lines_.next(line_)) {
      if (is_bed_header(line_)) continue;
      split_blanks(line_, fields_);
      if (fields_.empty()) continue;
      if (fields_count_ == 0) fields_count_ = fields_.size();
      if (fields_.size() != fields_count_)
        throw refused_at(lines_,
                         fmt::format("found {}, expected {} as in the lines before",
                                     plural(fields_.size(), "column"), fields_count_),
                         "correct the line");
      const std::int64_t before = site_.begin;
      const bool goes_on = fields_[0] == site_.chromosome;
      if (!goes_on) site_.chromosome = fields_[0];
      site_.line = lines_.line_number();
      const bool counts = is_bismark_ ? read_bismark() : read_bed_methyl();
      if (goes_on && site_.begin < before)
        throw refused_at(lines_, fmt::format("base {} (from 0) comes behind base {}", site_.begin, before),
                         "sort the file, for example with sort -k1,1 -k2,2n");
      if (counts && site_.counts[kAll] > 0) return true;
    }
    return false;
  }

  std::int64_t calls(std::size_t field, const char* name) const {
    const auto found = calls_in(fields_[field]);
    if (!found)
      throw refused_at(
          lines_,
          fmt::format("{} is {}, expected a whole number from 0 to 1e9", name, quoted_field(fields_[field])),
          "correct the line");
    return *found;
  }

  double percent(std::size_t field) const {
    const auto found = percent_in(fields_[field]);
    if (!found)
      throw refused_at(lines_, "the percentage is " + quoted_field(fields_[field]) + ", expected 0 to 100",
                       "correct the line");
    return *found;
  }

  bool read_bismark() {
    const std::int64_t begin = position_in(lines_, fields_[1], "start", 0);
    const std::int64_t end = position_in(lines_, fields_[2], "end", 0);
    const std::int64_t width = end - begin;
    if (width_ < 0) width_ = width;
    if (width != width_ || width > 1 || (width == 0 && begin == 0))
      throw refused_at(lines_, fmt::format("start {} and end {} are no site of this file", begin, end),
                       "start and end are the same (.cov) or one apart (.zero.cov)");
    site_.begin = width == 0 ? begin - 1 : begin;
    percent(3);
    site_.counts[kMethylated] = calls(4, "the number of methylated calls");
    site_.counts[kAll] = site_.counts[kMethylated] + calls(5, "the number of other calls");
    return true;
  }

  bool read_bed_methyl() {
    site_.begin = position_in(lines_, fields_[1], "start", 0);
    const std::int64_t end = position_in(lines_, fields_[2], "end", 0);
    if (end <= site_.begin)
      throw refused_at(lines_, fmt::format("start {} must be less than end {}", site_.begin, end),
                       "correct the line");
    site_.counts[kAll] = calls(kCoverage, "the coverage");
    const double share = percent(kPercent) / 100;
    if (fields_count_ != kModkitFields) {
      site_.counts[kMethylated] = std::llround(share * static_cast<double>(site_.counts[kAll]));
      return true;
    }
    site_.counts[kMethylated] = calls(kModified, "the number of modified calls");
    if (site_.counts[kMethylated] > site_.counts[kAll])
      throw refused_at(lines_,
                       fmt::format("{} modified calls of {}", site_.counts[kMethylated], site_.counts[kAll]),
                       "correct the line");
    return is_five_methyl_c(fields_[kName]);
  }

  bool is_bismark_;
  std::string line_;
  std::vector<std::string_view> fields_;
  std::size_t fields_count_ = 0;  // number of them in the first line; 0: none was read
  std::int64_t width_ = -1;       // end less start of Bismark's first line; -1: none was read
};

}  // namespace

std::vector<std::string> methylation_columns() { return {"methylated", "total"}; }

std::optional<TrackTextFormat> methylation_format_of(const std::vector<std::string>& lines) {
  std::vector<std::string_view> fields;
  const auto all = [&](auto is_one) {
    return std::ranges::all_of(lines, [&](const std::string& line) {
      split_blanks(line, fields);
      return is_one(fields);
    });
  };
  if (all(is_bed_methyl)) return TrackTextFormat::kBedMethyl;
  if (all(is_bismark)) return TrackTextFormat::kBismark;
  return std::nullopt;
}

std::unique_ptr<TrackTextReader> open_methylation(const TrackText& text, std::span<const std::size_t> columns,
                                                  std::int64_t bin_size) {
  return std::make_unique<MethylationReader>(text, columns, bin_size);
}

}  // namespace semicrf
