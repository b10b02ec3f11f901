#include "io/bigwig/bigwig_writer.h"

#include <cmath>
#include <stdexcept>

namespace semicrf {
namespace {
constexpr std::size_t kItems = 1024;  // per block
}  // namespace

BigWigWriter::BigWigWriter(std::vector<ChromInfo> chromosomes, const BbiOptions& options)
    : file_(std::move(chromosomes), {}, options) {
  items_.reserve(kItems);
}

void BigWigWriter::add(std::size_t chrom, std::int64_t begin, std::int64_t end, float value) {
  if (chrom != chrom_) {
    end_section();
    file_.end_chromosome();
    if (chrom < chrom_) throw std::logic_error("bigWig: a chromosome in two places");
    chrom_ = chrom;
    end_ = 0;
  }
  if (begin < end_ || begin >= end || end > file_.chromosomes().at(chrom).length || !std::isfinite(value))
    throw std::logic_error("bigWig: an interval out of order");
  end_ = end;
  items_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end), value});
  if (items_.size() == kItems) end_section();
  file_.add_value(static_cast<std::uint32_t>(chrom), begin, end, static_cast<double>(value));
}

// Sections do not cross chromosomes.
void BigWigWriter::end_section() {
  if (items_.empty()) return;
  const std::uint32_t width = items_.front().end - items_.front().begin;
  bool even = true;  // one width, without gaps
  for (std::size_t i = 0; i < items_.size(); ++i)
    even =
        even && items_[i].end - items_[i].begin == width && (i == 0 || items_[i].begin == items_[i - 1].end);
  block_.clear();
  for (const std::uint32_t number : {static_cast<std::uint32_t>(chrom_), items_.front().begin,
                                     items_.back().end, even ? width : 0, even ? width : 0})
    put_number(block_, number);
  put_number(block_, static_cast<std::uint8_t>(even ? 3 : 1));  // fixedStep, bedGraph
  put_number(block_, std::uint8_t{0});
  put_number(block_, static_cast<std::uint16_t>(items_.size()));
  for (const Item& item : items_) {
    if (!even) {
      put_number(block_, item.begin);
      put_number(block_, item.end);
    }
    put_number(block_, item.value);
  }
  file_.add_block(block_, static_cast<std::uint32_t>(chrom_), items_.front().begin, items_.back().end);
  items_.clear();
}

void BigWigWriter::write(OutputFile& output) {
  end_section();
  file_.end_chromosome();
  file_.write(output, file_.blocks());
}

}  // namespace semicrf
