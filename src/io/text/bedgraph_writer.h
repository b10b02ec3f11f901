// One value per bin as bedGraph: chrom start end value, runs of equal printed values on one line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "io/files/output_file.h"
#include "io/text/bin_location.h"
#include "io/text/fixed_decimal.h"

namespace semicrf {

struct BedGraphOptions {
  int digits = 6;  // decimals, 0..FixedDecimal::kMaxDigits
  double min_value =
      0;            // bins with a smaller value get no line; their values are summed up in dropped_mass()
  int threads = 1;  // that print many values of one add(); the bytes are the same
};

// Writes to an OutputFile that the caller commits. Call begin_piece(), add() for consecutive bins from left
// to right, then end_piece(), piece by piece. Runs never cross from one piece to the next.
class BedGraphWriter {
 public:
  BedGraphWriter(OutputFile& output, BedGraphOptions options);

  void begin_piece(const BinLocation& location);
  // Values of the next `count` bins: values[0], values[stride], values[2*stride], ... All finite.
  void add(const double* values, std::size_t count, std::size_t stride = 1);
  void end_piece();

  std::int64_t dropped_bins() const { return dropped_bins_; }
  double dropped_mass() const { return dropped_mass_; }
  std::int64_t lines() const { return lines_; }

 private:
  // The lines of values of consecutive bins in parts: their first and last runs, which the bins beside them
  // may belong to, and the lines of the runs between these.
  struct Part {
    std::int64_t begin = 0, first_end = 0, last_begin = 0, end = 0;  // bins
    FixedDecimal::Rounded first_value, last_value;
    std::string text;
    std::int64_t lines = 0;
  };
  void add_in_parts(const double* values, std::size_t count, std::size_t stride);
  Part printed(const double* values, std::size_t count, std::size_t stride, std::int64_t begin) const;
  void join(const Part& part);
  char* print_line(std::int64_t begin_bin, std::int64_t end_bin, FixedDecimal::Rounded value,
                   char* out) const;
  void end_run(std::int64_t end_bin);

  OutputFile& output_;
  BedGraphOptions options_;
  FixedDecimal decimal_;
  BinLocation location_;
  std::string prefix_;           // chromosome and tab
  std::int64_t next_bin_ = 0;    // next bin of the piece
  std::int64_t run_begin_ = -1;  // first bin of the open run, -1: none
  FixedDecimal::Rounded run_value_;
  std::int64_t dropped_bins_ = 0;
  double dropped_mass_ = 0;
  std::int64_t lines_ = 0;
};

}  // namespace semicrf
