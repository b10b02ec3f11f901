// Turns the intervals of one bigWig block into bin sums. Blocks can be swept by different threads: bins that
// lie wholly in a block's range are stored at once, the (at most two) bins at its ends are handed out as
// partial sums, which the caller joins in block order. So the result does not depend on who swept what.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "io/bigwig/bigwig_section.h"
#include "io/files/byte_view.h"

namespace semicrf {

struct PartialBin {
  std::uint64_t bin = 0;
  double sum = 0;
  std::uint32_t covered = 0;
};

struct BlockEdges {
  std::array<PartialBin, 2> bins;  // ascending
  int count = 0;
};

// Stores finished bins. Bins count from the window's first one.
class SumSink {
 public:
  explicit SumSink(BinSums out) : out_(out) {}
  std::size_t bins() const { return out_.sum.size(); }
  void clear() {
    std::fill(out_.sum.begin(), out_.sum.end(), 0.0);
    std::fill(out_.covered.begin(), out_.covered.end(), std::uint32_t{0});
  }
  void store(std::size_t bin, double sum, std::uint32_t covered) {
    out_.sum[bin] = sum;
    out_.covered[bin] = covered;
  }
  // `count` bins, each covered whole by `value`.
  void fill(std::size_t bin, std::size_t count, float value, std::uint64_t bin_size) {
    std::fill_n(out_.sum.data() + bin, count, static_cast<double>(value) * static_cast<double>(bin_size));
    std::fill_n(out_.covered.data() + bin, count, static_cast<std::uint32_t>(bin_size));
  }
  // `count` bins, each covered whole by a value of its own, in the byte order of the file.
  template <bool kSwap>
  void copy(std::size_t bin, std::size_t count, const std::uint8_t* values, std::uint64_t bin_size) {
    const auto size = static_cast<double>(bin_size);
    double* sum = out_.sum.data() + bin;
    for (std::size_t i = 0; i < count; ++i) {
      sum[i] = static_cast<double>(load_number<float, kSwap>(values + 4 * i)) * size;
    }
    std::fill_n(out_.covered.data() + bin, count, static_cast<std::uint32_t>(bin_size));
  }

 private:
  BinSums out_;
};

// The bins to fill, and the bases they cover.
struct BinWindow {
  std::uint64_t first_bin = 0;
  std::uint64_t bin_size = 1;
  std::uint64_t begin = 0;  // bases, clipped to the chromosome
  std::uint64_t end = 0;
};

class BinSweep {
 public:
  BinSweep(SumSink& sink, const BinWindow& window, const BigWigBlock& block)
      : sink_(sink),
        window_(window),
        bin_size_(window.bin_size),
        own_begin_((block.begin + bin_size_ - 1) / bin_size_),
        own_end_(block.end / bin_size_) {}

  // Intervals come in ascending order, without overlap, inside the window.
  void add(std::uint64_t begin, std::uint64_t end, float value) {
    if (begin >= bin_end_) move_to(begin);
    if (end > bin_end_) {
      collect(bin_end_ - begin, value);
      begin = bin_end_;
      if (end - begin >= bin_size_) {
        fill_whole_bins((end - begin) / bin_size_, value);
        begin = bin_end_;
        if (begin == end) return;
      }
      step();
    }
    collect(end - begin, value);
  }

  BlockEdges finish() {
    flush();
    return edges_;
  }

 private:
  void collect(std::uint64_t bases, float value) {
    sum_ += static_cast<double>(value) * static_cast<double>(bases);
    covered_ += static_cast<std::uint32_t>(bases);
  }

  // The whole bins in the middle of an interval are that interval's alone.
  void fill_whole_bins(std::uint64_t count, float value) {
    flush();
    sink_.fill(static_cast<std::size_t>(bin_ + 1 - window_.first_bin), static_cast<std::size_t>(count), value,
               bin_size_);
    bin_ += count;
    bin_end_ += count * bin_size_;
  }

  void step() {
    flush();
    ++bin_;
    bin_end_ += bin_size_;
  }

  void move_to(std::uint64_t base) {
    if (base < bin_end_ + bin_size_ && bin_end_ != 0) {
      step();
      return;
    }
    flush();
    bin_ = base / bin_size_;
    bin_end_ = (bin_ + 1) * bin_size_;
  }

  void flush() {
    if (covered_ == 0) return;
    if (bin_ >= own_begin_ && bin_ < own_end_) {
      sink_.store(static_cast<std::size_t>(bin_ - window_.first_bin), sum_, covered_);
    } else {
      edges_.bins[static_cast<std::size_t>(edges_.count++)] = {bin_, sum_, covered_};
    }
    sum_ = 0;
    covered_ = 0;
  }

  SumSink& sink_;
  const BinWindow& window_;
  std::uint64_t bin_size_;
  std::uint64_t own_begin_;  // bins [own_begin_, own_end_) lie wholly in the block's range
  std::uint64_t own_end_;
  std::uint64_t bin_ = 0;
  std::uint64_t bin_end_ = 0;  // end of bin_; 0 before the first interval
  double sum_ = 0;
  std::uint32_t covered_ = 0;
  BlockEdges edges_;
};

// True when none of `count` stored floats is infinite or NaN.
template <bool kSwap>
bool all_finite(const std::uint8_t* values, std::size_t count) {
  constexpr std::uint32_t kExponent = 0x7f800000;
  constexpr std::uint32_t kMask = kSwap ? __builtin_bswap32(kExponent) : kExponent;
  std::uint32_t special = 0;
  for (std::size_t i = 0; i < count; ++i) {
    special |=
        static_cast<std::uint32_t>((load_number<std::uint32_t, false>(values + 4 * i) & kMask) == kMask);
  }
  return special == 0;
}

// A fixedStep section without gaps whose intervals are one or several whole bins, all finite, is stored
// without checking each. False: it is not one.
template <bool kSwap>
bool store_whole_bins(const BlockContext& context, const BigWigSection& section, const BinWindow& window,
                      SumSink& sink) {
  const std::uint64_t size = window.bin_size;
  const std::uint64_t span = section.span;
  if (section.type != SectionType::kFixedStep || section.step != span || span == 0) return false;
  if (span % size != 0 || section.begin % size != 0) return false;
  const std::uint64_t end = section.begin + section.count * span;
  if (section.begin < context.block.begin || end > context.block.end) return false;
  if (!all_finite<kSwap>(section.items, section.count)) return false;
  const std::uint64_t bins = span / size;  // bins of one interval
  const std::uint64_t section_bin = section.begin / size;
  const std::uint64_t first = std::max(section_bin, window.first_bin);
  const std::uint64_t last = std::min(section_bin + section.count * bins, window.first_bin + sink.bins());
  if (bins == 1 && first < last) {
    sink.copy<kSwap>(static_cast<std::size_t>(first - window.first_bin),
                     static_cast<std::size_t>(last - first), section.items + 4 * (first - section_bin), size);
    return true;
  }
  std::uint64_t bin = first;
  for (std::uint64_t i = (first - section_bin) / bins; bin < last; ++i) {
    const std::uint64_t next = std::min(section_bin + (i + 1) * bins, last);
    sink.fill(static_cast<std::size_t>(bin - window.first_bin), static_cast<std::size_t>(next - bin),
              load_number<float, kSwap>(section.items + 4 * i), size);
    bin = next;
  }
  return true;
}

// Sweeps one section into the window's bins.
template <bool kSwap>
BlockEdges sweep_section(const BlockContext& context, const BigWigSection& section, const BinWindow& window,
                         SumSink& sink) {
  if (store_whole_bins<kSwap>(context, section, window, sink)) return {};
  BinSweep sweep(sink, window, context.block);
  visit_intervals<kSwap>(context, section, [&](std::uint64_t begin, std::uint64_t end, float value) {
    begin = std::max(begin, window.begin);
    end = std::min(end, window.end);
    if (begin < end && value == value) sweep.add(begin, end, value);
  });
  return sweep.finish();
}

}  // namespace semicrf
