#include "io/bigwig/bbi_writers.h"

#include <cmath>
#include <stdexcept>

namespace semicrf {
namespace {

constexpr std::size_t kItems = 1024;  // intervals per block
constexpr std::uint32_t kIntervalBytes = 12, kValueBytes = 4;

constexpr std::uint32_t kBigBedMagic = 0x8789F2EB;
constexpr std::size_t kIntervals = 512;  // per block

}  // namespace

BigWigWriter::BigWigWriter(ListedChromosomes chromosomes, const BbiOptions& options, std::int64_t bin)
    : file_(std::move(chromosomes), {}, options), bin_(stored(bin)) {
  items_.reserve(kItems);
}

void BigWigWriter::add(std::size_t chrom, std::int64_t begin, std::int64_t end, float value) {
  if (chrom != chrom_) {
    end_section();
    file_.end_chromosome();
    if (chrom < chrom_) throw std::logic_error("bigWig: a chromosome in two places");
    if (chrom >= file_.chromosomes().size())
      throw std::logic_error("bigWig: a chromosome that is not listed");
    chrom_ = chrom;
    end_ = 0;
  }
  if (begin < end_ || begin >= end || end > file_.chromosomes()[chrom].length || !std::isfinite(value))
    throw std::logic_error("bigWig: an interval out of order");
  end_ = end;
  items_.push_back({stored(begin), stored(end), value});
  if (items_.size() == kItems) end_section();
  file_.add_value(chrom, begin, end, value);
}

// The width of the values of a fixedStep section of all intervals; 0: there is none, or it would be longer.
std::uint32_t BigWigWriter::even_width() const {
  const std::uint32_t first = items_.front().end - items_.front().begin;
  bool same = true, whole = bin_ > 0;  // widths; numbers of bins
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const std::uint32_t width = items_[i].end - items_[i].begin;
    if (i > 0 && items_[i].begin != items_[i - 1].end) return 0;
    same = same && width == first;
    whole = whole && width % bin_ == 0;
  }
  if (same) return first;
  if (!whole) return 0;
  const std::uint64_t bins = (items_.back().end - items_.front().begin) / bin_;
  return bins * kValueBytes <= items_.size() * kIntervalBytes ? bin_ : 0;
}

// Sections do not cross chromosomes.
void BigWigWriter::end_section() {
  if (items_.empty()) return;
  const std::uint32_t width = even_width();
  const std::uint32_t bases = items_.back().end - items_.front().begin;
  block_.clear();
  for (const std::uint32_t number : {stored(chrom_), items_.front().begin, items_.back().end, width, width})
    put<std::uint32_t>(block_, number);
  put<std::uint8_t>(block_, width > 0 ? 3 : 1);  // fixedStep, bedGraph
  put<std::uint8_t>(block_, 0);
  put<std::uint16_t>(block_, width > 0 ? bases / width : items_.size());
  for (const Item& item : items_) {
    if (width > 0) {
      for (std::uint32_t at = item.begin; at < item.end; at += width) put<float>(block_, item.value);
      continue;
    }
    put<std::uint32_t>(block_, item.begin);
    put<std::uint32_t>(block_, item.end);
    put<float>(block_, item.value);
  }
  file_.add_block(block_, chrom_, items_.front().begin, items_.back().end);
  items_.clear();
}

void BigWigWriter::write(OutputFile& output) {
  end_section();
  file_.write(output, file_.blocks());
}

std::string auto_sql(const std::string& table, const std::string& comment,
                     const std::vector<BigBedColumn>& columns) {
  std::string text = "table " + table + "\n\"" + comment + "\"\n    (\n";
  for (const BigBedColumn& column : columns)
    text += "    " + column.type + " " + column.name + ";\t\"" + column.comment + "\"\n";
  return text + "    )\n";
}

BigBedWriter::BigBedWriter(ListedChromosomes chromosomes, std::size_t columns, std::size_t defined,
                           std::string description, const BbiOptions& options)
    : file_(std::move(chromosomes),
            {.name = "bigBed",
             .magic = kBigBedMagic,
             .fields = columns,
             .defined_fields = defined,
             .columns = std::move(description)},
            options) {}

void BigBedWriter::add(std::size_t chrom, std::int64_t begin, std::int64_t end, std::string_view rest) {
  if (chrom != chrom_) {
    end_block();
    file_.end_chromosome();
    if (chrom < chrom_) throw std::logic_error("bigBed: a chromosome in two places");
    if (chrom >= file_.chromosomes().size())
      throw std::logic_error("bigBed: a chromosome that is not listed");
    chrom_ = chrom;
    end_ = 0;
  }
  if (begin < end_ || begin >= end || end > file_.chromosomes()[chrom].length)
    throw std::logic_error("bigBed: an interval out of order");
  if (waiting_ == 0) begin_ = begin;
  end_ = end;
  for (const std::uint32_t number : {stored(chrom), stored(begin), stored(end)})
    put<std::uint32_t>(block_, number);
  block_ += rest;
  block_ += '\0';
  ++intervals_;
  ++waiting_;
  if (waiting_ == kIntervals) end_block();
  file_.add_value(chrom, begin, end, 1);
}

// Blocks do not cross chromosomes.
void BigBedWriter::end_block() {
  if (waiting_ == 0) return;
  file_.add_block(block_, chrom_, begin_, end_);
  block_.clear();
  waiting_ = 0;
}

void BigBedWriter::write(OutputFile& output) {
  end_block();
  file_.write(output, intervals_);
}

}  // namespace semicrf
