#include "io/text/bedgraph.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

#include "core/error.h"
#include "core/text/text.h"
#include "core/threads/turns.h"
#include "io/files/input_kind.h"

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

constexpr std::size_t kPart = 1 << 11;       // bins that one thread prints at a time: little memory
constexpr std::size_t kLongestNumbers = 20;  // digits of a base
constexpr std::size_t kLongestLine = 2 * kLongestNumbers + FixedDecimal::kMaxLength + 3;  // without the name

}  // namespace

std::string place_of(const BedGraphRecord& record) {
  if (record.line > 0) return fmt::format("line {}", record.line);
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
    record = {
        file.chromosomes()[chrom].name, interval.begin, interval.end, interval.value, kBigWigDecimals, 0};
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

std::span<const Chromosome> BedGraphReader::chromosomes() const {
  return bigwig_ ? std::span<const Chromosome>(bigwig_->file.chromosomes()) : std::span<const Chromosome>();
}

bool BedGraphReader::next(BedGraphRecord& record) {
  return bigwig_ ? bigwig_->next(record) : next_line(record);
}

bool BedGraphReader::next_line(BedGraphRecord& record) {
  if (!reader_->next(fields_)) return false;
  if (fields_.fields.size() != 4)
    throw InputError(path_, fields_.line,
                     fmt::format("found {} columns, expected 4: chromosome, start, end and a value",
                                 fields_.fields.size()),
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
                     fmt::format("starts at {}, before the end of the line before, {}", record.begin, end_),
                     "lines must be sorted and must not overlap");
  }
  end_ = record.end;
}

BedGraphWriter::BedGraphWriter(OutputFile& output, BedGraphOptions options)
    : output_(output), options_(options), decimal_(options.digits) {}

void BedGraphWriter::begin_piece(const BinLocation& location) {
  location_ = location;
  prefix_ = location.chromosome + "\t";
  next_bin_ = 0;
  run_begin_ = -1;
}

void BedGraphWriter::add(const double* values, std::size_t count, std::size_t stride) {
  if (options_.threads > 1 && options_.min_value <= 0 && count >= 4 * kPart)
    return add_in_parts(values, count, stride);
  for (std::size_t i = 0; i < count; ++i, ++next_bin_) {
    const double value = values[i * stride];
    if (value < options_.min_value) {
      end_run(next_bin_);
      ++dropped_bins_;
      dropped_mass_ += value;
      continue;
    }
    const FixedDecimal::Rounded rounded = decimal_.round(value);
    if (run_begin_ >= 0 && rounded == run_value_) continue;
    end_run(next_bin_);
    run_begin_ = next_bin_;
    run_value_ = rounded;
  }
}

void BedGraphWriter::end_piece() { end_run(next_bin_); }

// Threads print, and one more puts their lines together and writes them.
void BedGraphWriter::add_in_parts(const double* values, std::size_t count, std::size_t stride) {
  const std::int64_t begin = next_bin_;
  const auto print = [&](std::size_t part) {
    const std::size_t first = part * kPart;
    return printed(values + first * stride, std::min(kPart, count - first), stride,
                   begin + static_cast<std::int64_t>(first));
  };
  in_turns(options_.threads, (count + kPart - 1) / kPart, print, [this](const Part& part) { join(part); });
}

BedGraphWriter::Part BedGraphWriter::printed(const double* values, std::size_t count, std::size_t stride,
                                             std::int64_t begin) const {
  Part part;
  part.begin = part.last_begin = begin;
  part.end = begin + static_cast<std::int64_t>(count);
  part.first_value = part.last_value = decimal_.round(values[0]);
  for (std::size_t i = 1; i < count; ++i) {
    const FixedDecimal::Rounded rounded = decimal_.round(values[i * stride]);
    if (rounded == part.last_value) continue;
    const std::int64_t bin = begin + static_cast<std::int64_t>(i);
    if (part.last_begin == begin) {
      part.first_end = bin;
    } else {
      const std::size_t length = part.text.size();
      part.text.append(prefix_);
      part.text.resize(part.text.size() + kLongestLine);
      const char* const end =
          print_line(part.last_begin, bin, part.last_value, part.text.data() + length + prefix_.size());
      part.text.resize(end - part.text.data());
      ++part.lines;
    }
    part.last_begin = bin;
    part.last_value = rounded;
  }
  return part;
}

void BedGraphWriter::join(const Part& part) {
  if (run_begin_ < 0 || part.first_value != run_value_) {
    end_run(part.begin);
    run_begin_ = part.begin;
    run_value_ = part.first_value;
  }
  next_bin_ = part.end;
  if (part.last_begin == part.begin) return;
  end_run(part.first_end);
  output_.write(part.text);
  lines_ += part.lines;
  run_begin_ = part.last_begin;
  run_value_ = part.last_value;
}

char* BedGraphWriter::print_line(std::int64_t begin_bin, std::int64_t end_bin, FixedDecimal::Rounded value,
                                 char* out) const {
  out = print_integer(location_.begin_base(begin_bin), out);
  *out++ = '\t';
  out = print_integer(location_.end_base(end_bin), out);
  *out++ = '\t';
  out = decimal_.print(value, out);
  *out++ = '\n';
  return out;
}

void BedGraphWriter::end_run(std::int64_t end_bin) {
  if (run_begin_ < 0) return;
  output_.write(prefix_);
  char* const line = output_.reserve(kLongestLine);
  output_.advance(print_line(run_begin_, end_bin, run_value_, line) - line);
  run_begin_ = -1;
  ++lines_;
}

}  // namespace semicrf
