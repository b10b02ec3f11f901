#include "io/text/bedgraph_reader.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/text/text.h"
#include "io/files/input_kind.h"
#include "io/text/bin_location.h"

namespace semicrf {
namespace {

constexpr int kBigWigDecimals = 6;  // decimals of the values that bigWig files get by default

// What can be read twice is told by its content; all else is text.
InputKind kind_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return InputKind::kText;
  const InputKind kind = detect_input_kind(path);
  if (kind != InputKind::kText && kind != InputKind::kGzip && kind != InputKind::kBgzip &&
      kind != InputKind::kBigWig)
    throw InputError({path, "", std::string("this is ") + describe(kind) + ", not bedGraph or bigWig",
                      "give what semicrf posterior or decode --posterior wrote"});
  return kind;
}

int decimals_of(const std::string& text) {
  const std::size_t point = text.find('.');
  if (point == std::string::npos) return 0;
  std::size_t end = point + 1;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return static_cast<int>(end - point - 1);
}

}  // namespace

std::string place_of(const BedGraphRecord& record) {
  if (record.line > 0) return "line " + std::to_string(record.line);
  return place_of_bases(record.chromosome, record.begin, record.end);
}

// Intervals of a bigWig file, some millions of bases at a time.
struct BedGraphReader::FromBigWig {
  explicit FromBigWig(const std::string& path) : file(BigWigFile::open(path)) {}

  bool next(BedGraphRecord& record) {
    constexpr std::int64_t kBases = std::int64_t{1} << 22;
    while (at == intervals.size()) {
      if (chrom == file.chromosomes().size()) return false;
      const std::int64_t length = file.chromosomes()[chrom].length;
      if (begin >= length || !file.has_values(chrom)) {
        ++chrom;
        begin = 0;
        continue;
      }
      const std::int64_t end = std::min(length, begin + kBases);
      intervals.clear();
      at = 0;
      if (cut) intervals.push_back(*cut);
      cut.reset();
      file.read(chrom, begin, end, [this](std::span<const BigWigInterval> some) {
        for (const BigWigInterval& one : some) add(one);
      });
      begin = end;
      if (end < length && !intervals.empty() && intervals.back().end == end) {
        cut = intervals.back();
        intervals.pop_back();
      }
    }
    const BigWigInterval& interval = intervals[at++];
    record = {file.chromosomes()[chrom].name,      interval.begin,  interval.end,
              static_cast<double>(interval.value), kBigWigDecimals, 0};
    return true;
  }

  // What begins at a cut goes on with the interval before it, where the value is the same.
  void add(const BigWigInterval& one) {
    const bool at_cut = one.begin == begin && !intervals.empty();
    if (at_cut && intervals.back().end == begin && intervals.back().value == one.value) {
      intervals.back().end = one.end;
    } else {
      intervals.push_back(one);
    }
  }

  BigWigFile file;
  std::size_t chrom = 0;
  std::int64_t begin = 0;  // begin of what comes next
  std::vector<BigWigInterval> intervals;
  std::optional<BigWigInterval> cut;  // reaches to where reading was cut, and may go on there
  std::size_t at = 0;
};

BedGraphReader::BedGraphReader(const std::string& path) : path_(path) {
  if (kind_of(path) == InputKind::kBigWig) {
    bigwig_ = std::make_unique<FromBigWig>(path);
  } else {
    reader_.emplace(path);
  }
}

BedGraphReader::~BedGraphReader() = default;

const std::map<std::string, std::string>& BedGraphReader::options() const {
  static const std::map<std::string, std::string> none;
  return reader_ ? reader_->options() : none;
}

bool BedGraphReader::next(BedGraphRecord& record) {
  return bigwig_ ? bigwig_->next(record) : next_line(record);
}

bool BedGraphReader::next_line(BedGraphRecord& record) {
  if (!reader_->next(fields_)) return false;
  if (fields_.fields.size() != 4)
    throw InputError(path_, fields_.line,
                     "found " + std::to_string(fields_.fields.size()) +
                         " columns, expected 4: chromosome, start, end and a value",
                     "this is not bedGraph");
  const std::string& text = fields_.fields[3];
  const auto value = number_in<double>(text);
  if (!value || !std::isfinite(*value))
    throw InputError(path_, fields_.line,
                     "the value is '" + text.substr(0, 40) + "', expected a finite number",
                     "this is not bedGraph");
  record.chromosome = fields_.chromosome;
  record.begin = fields_.begin;
  record.end = fields_.end;
  record.value = *value;
  record.decimals = decimals_of(text);
  record.line = fields_.line;
  check_order(record);
  return true;
}

void BedGraphReader::check_order(const BedGraphRecord& record) {
  if (record.chromosome != chromosome_) {
    if (!chromosome_.empty()) finished_.insert(chromosome_);
    if (finished_.contains(record.chromosome))
      throw InputError(path_, record.line, "chromosome " + record.chromosome + " comes a second time",
                       "sort the file, for example with sort -k1,1 -k2,2n");
    chromosome_ = record.chromosome;
  } else if (record.begin < end_) {
    throw InputError(path_, record.line,
                     "starts at " + std::to_string(record.begin) + ", before the end of the line before, " +
                         std::to_string(end_),
                     "lines must be sorted and must not overlap");
  }
  end_ = record.end;
}

}  // namespace semicrf
