#include "io/tracks/methylation_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "io/segments/bed_reader.h"

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
    if (at > begin) fields.emplace_back(begin, static_cast<std::size_t>(at - begin));
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

class MethylationReader : public TrackTextReader {
 public:
  MethylationReader(const TrackText& text, std::span<const std::size_t> columns, std::int64_t bin_size)
      : lines_(text.path),
        is_bismark_(text.format == TrackTextFormat::kBismark),
        bin_size_(bin_size),
        columns_(columns.begin(), columns.end()) {}

 protected:
  bool next_row(TrackRow& row) override {
    if (!has_site_ && !next_site()) return false;
    row.chromosome = site_.chromosome;
    row.begin = site_.begin / bin_size_ * bin_size_;
    row.end = row.begin + bin_size_;
    row.is_bin = true;
    if (row.line == 0) row.file = lines_.path();
    std::array<std::int64_t, 2> sums{};  // by column
    do {
      sums[0] += site_.methylated;
      sums[1] += site_.all;
      row.line = site_.line;
      has_site_ = next_site();
    } while (has_site_ && site_.chromosome == row.chromosome && site_.begin < row.end);
    row.values.resize(columns_.size());
    for (std::size_t i = 0; i < columns_.size(); ++i) row.values[i] = static_cast<float>(sums[columns_[i]]);
    return true;
  }

 private:
  struct Site {
    std::string chromosome;
    std::int64_t begin = 0;  // base, from 0
    std::int64_t methylated = 0, all = 0;
    std::int64_t line = 0;
  };

  // The next site with a call that counts; false at the end.
  bool next_site() {
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
      if (counts && site_.all > 0) return true;
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
    site_.methylated = calls(4, "the number of methylated calls");
    site_.all = site_.methylated + calls(5, "the number of other calls");
    return true;
  }

  bool read_bed_methyl() {
    site_.begin = position_in(lines_, fields_[1], "start", 0);
    const std::int64_t end = position_in(lines_, fields_[2], "end", 0);
    if (end <= site_.begin)
      throw refused_at(lines_, fmt::format("start {} must be less than end {}", site_.begin, end),
                       "correct the line");
    site_.all = calls(kCoverage, "the coverage");
    const double share = percent(kPercent) / 100;
    if (fields_count_ != kModkitFields) {
      site_.methylated = std::llround(share * static_cast<double>(site_.all));
      return true;
    }
    site_.methylated = calls(kModified, "the number of modified calls");
    if (site_.methylated > site_.all)
      throw refused_at(lines_, fmt::format("{} modified calls of {}", site_.methylated, site_.all),
                       "correct the line");
    return is_five_methyl_c(fields_[kName]);
  }

  TextLines lines_;
  bool is_bismark_;
  std::int64_t bin_size_;
  std::vector<std::size_t> columns_;
  std::string line_;
  std::vector<std::string_view> fields_;
  std::size_t fields_count_ = 0;  // number of them in the first line; 0: none was read
  std::int64_t width_ = -1;       // end less start of Bismark's first line; -1: none was read
  Site site_;                     // the last one that was read
  bool has_site_ = false;         // whether it is in no row yet
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
