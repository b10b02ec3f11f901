// Reads the tables of boundaries that decode --boundaries writes (segment_columns.h).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace semicrf {

struct BoundaryRecord {
  std::string chromosome;
  std::int64_t position = 0;  // first base of the segment after the boundary
  std::string to;             // the label of that segment
  // First bases of the leftmost and the rightmost bin of the interval; absent where the table has ".".
  std::optional<std::int64_t> lower, upper;
  std::int64_t line = 0;
};

struct BoundaryTable {
  std::vector<BoundaryRecord> boundaries;      // in the file's order
  std::map<std::string, std::string> options;  // options of the header lines
};

// Columns are found by the names in the last line that starts with "#", or else in the first line. Plain or
// compressed. InputError with the line number: no such table, a position that is no whole number, an interval
// that does not hold its boundary.
BoundaryTable read_boundary_table(const std::string& path);

}  // namespace semicrf
