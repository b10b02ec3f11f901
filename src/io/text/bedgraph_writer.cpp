#include "io/text/bedgraph_writer.h"

namespace semicrf {

BedGraphWriter::BedGraphWriter(OutputFile& output, BedGraphOptions options)
    : output_(output), options_(options), decimal_(options.digits) {}

void BedGraphWriter::begin_piece(const BinLocation& location) {
  location_ = location;
  prefix_ = location.chromosome + "\t";
  next_bin_ = 0;
  run_begin_ = -1;
}

void BedGraphWriter::add(const double* values, std::size_t count, std::size_t stride) {
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

void BedGraphWriter::end_run(std::int64_t end_bin) {
  if (run_begin_ < 0) return;
  output_.write(prefix_);
  constexpr std::size_t kIntegerLength = 20;
  char* const line = output_.reserve(2 * kIntegerLength + FixedDecimal::kMaxLength + 3);
  char* end = print_integer(location_.begin_base(run_begin_), line);
  *end++ = '\t';
  end = print_integer(location_.end_base(end_bin), end);
  *end++ = '\t';
  end = decimal_.print(run_value_, end);
  *end++ = '\n';
  output_.advance(static_cast<std::size_t>(end - line));
  run_begin_ = -1;
  ++lines_;
}

}  // namespace semicrf
