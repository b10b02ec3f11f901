// Reads bedGraph, plain or compressed: chrom start end value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "io/text/bed_reader.h"

namespace semicrf {

struct BedGraphRecord {
  std::string chromosome;
  std::int64_t begin = 0;  // base, 0-based
  std::int64_t end = 0;    // one past the last base, > begin
  double value = 0;        // finite
  int decimals = 0;        // digits after the point, as the value was written
  std::int64_t line = 0;   // line number in the file
};

// InputError with the line number: not bedGraph, a value that is no finite number, lines that overlap or are
// not sorted, a chromosome whose lines do not stand together. ReadError: cannot be opened or read.
class BedGraphReader {
 public:
  explicit BedGraphReader(const std::string& path);  // "-": standard input

  // False at the end of the file.
  bool next(BedGraphRecord& record);
  // Bases per bin and further options, as the header lines that were passed say it.
  std::optional<std::int64_t> bin_size() const { return reader_.bin_size(); }
  const std::map<std::string, std::string>& options() const { return reader_.options(); }

 private:
  void check_order(const BedGraphRecord& record);

  std::string path_;
  BedReader reader_;
  BedRecord fields_;
  std::string chromosome_;  // of the last line
  std::int64_t end_ = 0;    // of the last line
  std::set<std::string> finished_;
};

}  // namespace semicrf
