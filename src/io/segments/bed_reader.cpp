#include "io/segments/bed_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/text/text.h"
#include "core/text/utf8.h"
#include "io/files/input_kind.h"
#include "io/files/output_names.h"
#include "io/text/chromosomes.h"
#include "io/text/provenance_header.h"

namespace semicrf {
namespace {

bool is_whole(std::string_view text) { return number_in<std::int64_t>(text).has_value(); }

// The first word of `line`, which is then taken from it with the blanks around it.
std::string_view take_word(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

bool is_browser_word(std::string_view word) {
  constexpr std::array<std::string_view, 8> kWords = {"position", "hide", "dense", "squish",
                                                      "pack",     "full", "pix",   ""};
  return std::ranges::find(kWords, word) != kWords.end();
}

// "peak_12" and MACS's "sample_peak_12a", which number the peaks of a list: "peak", "sample_peak".
std::string without_number(std::string name) {
  std::size_t end = name.size();
  if (end > 0 && name[end - 1] >= 'a' && name[end - 1] <= 'z') --end;  // summits of one peak
  const std::size_t digits = name.find_last_not_of("0123456789", end == 0 ? 0 : end - 1);
  if (digits != std::string::npos && digits > 0 && digits + 1 < end && name[digits] == '_')
    name.resize(digits);
  return name;
}

constexpr const char* kNoBase = "this is a point, an interval without a base";
constexpr const char* kNoBaseAdvice =
    "enrich reads points with --centres and --around; give intervals of a base or more";

// Text of the file in a message, cut to a readable length.
std::string shown(std::string_view text) { return "'" + shortened(text, 60) + "'"; }

// Text may be compressed; what has no known signature, an empty file and what can be read only once, such as
// a pipe, count as text, which is told where it is not BED.
InputKind bed_kind(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return InputKind::kText;
  const InputKind kind = detect_input_kind(path);
  const bool may_be_text = kind == InputKind::kGzip || kind == InputKind::kBgzip ||
                           kind == InputKind::kEmpty || kind == InputKind::kUnknown;
  return may_be_text ? InputKind::kText : kind;
}

}  // namespace

void split_bed(std::string_view line, std::vector<std::string>& fields) {
  const bool tabs = line.find('\t') != std::string_view::npos;
  std::size_t count = 0;
  const auto put = [&](std::string_view field) {
    if (count < fields.size()) {
      fields[count].assign(field);
    } else {
      fields.emplace_back(field);
    }
    ++count;
  };
  std::size_t begin = 0;
  while (begin <= line.size()) {
    const std::size_t end = std::min(line.find(tabs ? '\t' : ' ', begin), line.size());
    if (tabs || end > begin) put(line.substr(begin, end - begin));  // a row of blanks separates once
    begin = end + 1;
  }
  fields.resize(count);
}

bool is_bed_header(std::string_view line) {
  if (line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#') return true;
  const bool track = line.starts_with("track"), browser = line.starts_with("browser");
  if (!track && !browser) return false;
  const std::string_view word = take_word(line);
  if (word != "track" && word != "browser") return false;
  std::string_view rest = line;
  const std::string_view second = take_word(rest);
  if (is_whole(second) && is_whole(take_word(rest))) return false;
  return browser ? is_browser_word(second) : second.empty() || line.find('=') != std::string_view::npos;
}

std::string_view other_format(std::string_view line) {
  if (line.starts_with("##fileformat=VCF") || line.starts_with("#CHROM\tPOS")) return "VCF";
  if (line.starts_with("##gff-version")) return "GFF";
  if (line.starts_with(">")) return "FASTA";
  if (line.starts_with("@HD\t") || line.starts_with("@SQ\t")) return "SAM";
  if (line.starts_with("fixedStep ") || line.starts_with("variableStep ")) return "wiggle";
  const std::vector<std::string_view> fields = split_at('\t', line);
  if (fields.size() >= 8 && is_whole(fields[3]) && is_whole(fields[4]) && fields[6].size() == 1) return "GFF";
  const auto is_bases = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("ACGTNacgtn.*<>,") == std::string_view::npos;
  };
  if (fields.size() >= 8 && is_whole(fields[1]) && is_bases(fields[3]) && is_bases(fields[4])) return "VCF";
  return "";
}

std::string place_of(const BedRecord& record) {
  if (record.is_text) return fmt::format("line {}", record.line);
  return place_of_bases(record.chromosome, record.begin, record.end);
}

std::optional<std::array<std::uint8_t, 3>> item_color(const BedRecord& record) {
  if (record.fields.size() < 9) return std::nullopt;
  const std::vector<std::string_view> parts = split_at(',', record.fields[8]);
  std::array<std::uint8_t, 3> color{};
  if (parts.size() != color.size()) return std::nullopt;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto part = number_in<std::uint8_t>(parts[i]);
    if (!part) return std::nullopt;
    color[i] = *part;
  }
  return color;
}

BedReader::BedReader(std::string path, BedPoints points)
    : points_(points), numbers_peaks_(has_ending(without_compression(path), {".narrowpeak", ".broadpeak"})) {
  switch (bed_kind(path)) {
    case InputKind::kBigBed:
      bigbed_.emplace(path);
      break;
    case InputKind::kText:
      lines_.emplace(std::move(path));
      break;
    default:
      throw InputError({path, "", std::string("this is ") + describe(bed_kind(path)) + ", not BED or bigBed",
                        "give a BED or bigBed file"});
  }
}

std::map<std::string, std::int64_t> BedReader::lengths() const {
  std::map<std::string, std::int64_t> lengths;
  if (bigbed_)
    for (const Chromosome& chromosome : bigbed_->chromosomes())
      lengths.emplace(chromosome.name, chromosome.length);
  return lengths;
}

void BedReader::next_of_bigbed(const BigBedInterval& interval, BedRecord& record) {
  record.chromosome = bigbed_->chromosomes()[interval.chrom].name;
  record.begin = interval.begin;
  record.end = interval.end;
  record.line = ++intervals_;
  record.is_text = false;
  line_ = fmt::format("{}\t{}\t{}", record.chromosome, interval.begin, interval.end);
  const auto refuse = [&](const std::string& what, const std::string& advice) {
    return InputError(
        {bigbed_->path(), place_of_bases(record.chromosome, record.begin, record.end), what, advice});
  };
  if (record.begin == record.end && points_ == BedPoints::kRefused) throw refuse(kNoBase, kNoBaseAdvice);
  for (const std::string_view column : split_at('\t', interval.rest))
    if (text_fault(column) != TextFault::kNone)
      throw refuse("'" + shortened(escape_control(column), 60) + "' is not UTF-8 without control characters",
                   "make the file again with other texts");
  if (!interval.rest.empty()) line_.append("\t").append(interval.rest);
  split_bed(line_, record.fields);
  record.name = record.fields.size() > 3 ? record.fields[3] : "";
}

std::optional<std::int64_t> BedReader::bin_size() const { return bin_size_option(options_); }

bool BedReader::next(BedRecord& record) {
  if (bigbed_) {
    BigBedInterval interval;
    if (!bigbed_->next(interval)) return false;
    next_of_bigbed(interval, record);
    return true;
  }
  while (true) {
    if (!lines_->next(line_)) return false;
    if (!is_bed_header(line_)) break;
    if (line_.starts_with('#') && !other_format(line_).empty()) throw refuse("");
    if (auto option = header_option(line_)) options_.insert_or_assign(option->first, option->second);
  }
  split_bed(line_, record.fields);
  if (record.fields.size() < 3) {
    throw refuse("found " + plural(record.fields.size(), "column") + ", expected at least 3");
  }
  if (record.fields[0].empty()) throw refuse("the chromosome's name is empty");
  record.chromosome = record.fields[0];
  record.begin = position(record.fields[1], "start");
  record.end = position(record.fields[2], "end");
  if (record.begin > record.end)
    throw refuse("start " + record.fields[1] + " must be less than end " + record.fields[2]);
  if (record.begin == record.end && points_ == BedPoints::kRefused)
    throw InputError(lines_->path(), lines_->line_number(),
                     "start and end are both " + record.fields[1] + ": " + kNoBase, kNoBaseAdvice);
  record.name = record.fields.size() > 3 ? record.fields[3] : "";
  if (numbers_peaks_) record.name = without_number(std::move(record.name));
  record.line = lines_->line_number();
  return true;
}

InputError BedReader::refuse(const std::string& what) const {
  const std::string_view format = other_format(line_);
  if (format.empty()) return InputError(lines_->path(), lines_->line_number(), what, "this is not valid BED");
  return InputError(lines_->path(), lines_->line_number(), "this is " + std::string(format) + ", not BED",
                    "convert it to BED: chromosome, start (from 0), end");
}

std::int64_t BedReader::position(const std::string& text, const char* column) const {
  const auto value = number_in<std::int64_t>(text);
  if (!value || *value < 0)
    throw refuse(std::string(column) + " is " + shown(text) + ", expected a whole number, 0 or more");
  return *value;
}

std::vector<BedRecord> read_bed(const std::string& path) {
  BedReader reader(path);
  std::vector<BedRecord> records;
  BedRecord record;
  while (reader.next(record)) records.push_back(record);
  return records;
}

}  // namespace semicrf
