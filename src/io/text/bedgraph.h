// Values along chromosomes: bedGraph, plain or compressed (chrom start end value), or bigWig, which is read
// as such.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "core/text/fixed_decimal.h"
#include "io/bigwig/bigwig_reader.h"
#include "io/files/output_file.h"
#include "io/segments/bed_reader.h"
#include "io/text/chromosomes.h"

namespace semicrf {

struct BedGraphRecord {
  std::string chromosome;
  std::int64_t begin = 0;  // base, 0-based
  std::int64_t end = 0;    // one past the last base, > begin
  double value = 0;        // finite
  int decimals = 0;        // digits after the point, as the value was written; 6 of bigWig
  std::int64_t line = 0;   // line number in the file; 0 of bigWig
};

// Where a record stands, for errors: "line 5", or "chr1:1001-1200" of a bigWig file.
std::string place_of(const BedGraphRecord& record);

// InputError with the line number: not bedGraph, a value that is no finite number, lines that overlap or are
// not sorted, a chromosome whose lines do not stand together; or a bigWig file that is damaged. ReadError:
// cannot be opened or read.
class BedGraphReader {
 public:
  explicit BedGraphReader(const std::string& path);  // "-": standard input
  ~BedGraphReader();

  // False at the end of the file.
  bool next(BedGraphRecord& record);
  // Bases per bin and further options, as the header lines that were passed say it.
  // bigWig has no header lines.
  std::optional<std::int64_t> bin_size() const { return reader_ ? reader_->bin_size() : std::nullopt; }
  const std::map<std::string, std::string>& options() const;
  // Those that a bigWig file lists, with their lengths; none of bedGraph. Valid as long as this.
  std::span<const Chromosome> chromosomes() const;

 private:
  bool next_line(BedGraphRecord& record);
  void check_order(const BedGraphRecord& record);

  std::string path_;
  struct FromBigWig;
  std::unique_ptr<FromBigWig> bigwig_;  // or null
  std::optional<BedReader> reader_;     // else
  BedRecord fields_;
  std::string chromosome_;  // chromosome of the last line
  std::int64_t end_ = 0;    // end of the last line
  std::set<std::string> finished_;
};

struct BedGraphOptions {
  int digits = 6;  // decimals, 0..FixedDecimal::kMaxDigits
  double min_value =
      0;            // bins with a smaller value get no line; their values are summed up in dropped_mass()
  int threads = 1;  // that print many values of one add(); the bytes are the same
};

// One value per bin as bedGraph, runs of equal printed values on one line. Writes to an OutputFile that the
// caller commits. Call begin_piece(), add() for consecutive bins from left to right, then end_piece(), piece
// by piece. Runs never cross from one piece to the next.
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
