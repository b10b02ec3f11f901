#include "io/text/bedgraph_writer.h"

#include <algorithm>

#include "core/threads/in_turns.h"

namespace semicrf {
namespace {

constexpr std::size_t kPart = 1 << 11;       // bins that one thread prints at a time: little memory
constexpr std::size_t kLongestNumbers = 20;  // digits of a base
constexpr std::size_t kLongestLine = 2 * kLongestNumbers + FixedDecimal::kMaxLength + 3;  // without the name

}  // namespace

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
      part.text.resize(static_cast<std::size_t>(end - part.text.data()));
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
  output_.advance(static_cast<std::size_t>(print_line(run_begin_, end_bin, run_value_, line) - line));
  run_begin_ = -1;
  ++lines_;
}

}  // namespace semicrf
