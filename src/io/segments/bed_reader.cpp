#include "io/segments/bed_reader.h"

#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "core/text/text.h"
#include "io/files/input_kind.h"
#include "io/text/bin_location.h"
#include "io/text/provenance_header.h"

namespace semicrf {
namespace {

bool is_skipped(std::string_view line) {
  const auto starts_with_word = [line](std::string_view word) {
    return line.starts_with(word) &&
           (line.size() == word.size() || line[word.size()] == ' ' || line[word.size()] == '\t');
  };
  return line.find_first_not_of(" \t") == std::string_view::npos || line.front() == '#' ||
         starts_with_word("track") || starts_with_word("browser");
}

// Splits into `fields`, reusing its strings.
void split(std::string_view line, std::vector<std::string>& fields) {
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

// Text of the file in a message, cut to a readable length.
std::string shown(std::string_view text) {
  constexpr std::size_t kMaxShown = 40;
  if (text.size() <= kMaxShown) return "'" + std::string(text) + "'";
  return "'" + std::string(text.substr(0, kMaxShown)) + "...'";
}

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

std::string place_of(const BedRecord& record) {
  if (record.is_text) return "line " + std::to_string(record.line);
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

BedReader::BedReader(std::string path) {
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
  line_ = record.chromosome + "\t" + std::to_string(interval.begin) + "\t" + std::to_string(interval.end);
  if (!interval.rest.empty()) line_.append("\t").append(interval.rest);
  split(line_, record.fields);
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
    if (!is_skipped(line_)) break;
    if (auto option = header_option(line_)) options_.insert_or_assign(option->first, option->second);
  }

  const auto refuse = [&](const std::string& what) {
    return InputError(lines_->path(), lines_->line_number(), what, "this is not valid BED");
  };
  const auto position = [&](const std::string& text, const char* column) {
    const auto value = number_in<std::int64_t>(text);
    if (!value || *value < 0)
      throw refuse(std::string(column) + " is " + shown(text) + ", expected a whole number, 0 or more");
    return *value;
  };

  split(line_, record.fields);
  if (record.fields.size() < 3) {
    throw refuse("found " + std::to_string(record.fields.size()) + " column(s), expected at least 3");
  }
  if (record.fields[0].empty()) throw refuse("the chromosome's name is empty");
  record.chromosome = record.fields[0];
  record.begin = position(record.fields[1], "start");
  record.end = position(record.fields[2], "end");
  if (record.begin >= record.end) {
    throw refuse("start " + record.fields[1] + " must be less than end " + record.fields[2]);
  }
  record.name = record.fields.size() > 3 ? record.fields[3] : "";
  record.line = lines_->line_number();
  return true;
}

std::vector<BedRecord> read_bed(const std::string& path) {
  BedReader reader(path);
  std::vector<BedRecord> records;
  BedRecord record;
  while (reader.next(record)) records.push_back(record);
  return records;
}

}  // namespace semicrf
