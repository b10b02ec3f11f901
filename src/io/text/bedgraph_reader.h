// Reads values along chromosomes: bedGraph, plain or compressed (chrom start end value), or bigWig.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "io/bigwig/bigwig_reader.h"
#include "io/segments/bed_reader.h"

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

}  // namespace semicrf
