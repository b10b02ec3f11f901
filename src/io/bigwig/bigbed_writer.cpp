#include "io/bigwig/bigbed_writer.h"

#include <stdexcept>

namespace semicrf {
namespace {
constexpr std::uint32_t kBigBedMagic = 0x8789F2EB;
constexpr std::size_t kIntervals = 512;  // per block
}  // namespace

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
            {"bigBed", kBigBedMagic, static_cast<std::uint16_t>(columns), static_cast<std::uint16_t>(defined),
             std::move(description)},
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
  for (const std::int64_t number : {static_cast<std::int64_t>(chrom), begin, end})
    put_number(block_, static_cast<std::uint32_t>(number));
  block_ += rest;
  block_ += '\0';
  ++intervals_;
  ++waiting_;
  if (waiting_ == kIntervals) end_block();
  file_.add_value(static_cast<std::uint32_t>(chrom), begin, end, 1);
}

// Blocks do not cross chromosomes.
void BigBedWriter::end_block() {
  if (waiting_ == 0) return;
  file_.add_block(block_, static_cast<std::uint32_t>(chrom_), static_cast<std::uint32_t>(begin_),
                  static_cast<std::uint32_t>(end_));
  block_.clear();
  waiting_ = 0;
}

void BigBedWriter::write(OutputFile& output) {
  end_block();
  file_.write(output, intervals_);
}

}  // namespace semicrf
