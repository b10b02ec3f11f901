// bedGraph, plain or compressed, and tables of boundaries, which the same bytes are read as.
#include "io/text/bedgraph.h"

#include <cmath>
#include <set>

#include "fuzz/fuzz_input.h"
#include "io/segments/segment_columns.h"

namespace semicrf::fuzz {
namespace {

void read_values(std::span<const std::uint8_t> bytes) {
  BedGraphReader reader(as_file(bytes));
  std::string chromosome;
  std::int64_t end = 0;
  std::set<std::string> seen;
  for (BedGraphRecord record; reader.next(record);) {
    if (record.chromosome != chromosome) {
      require(seen.insert(record.chromosome).second, "the lines of a chromosome stand together");
      chromosome = record.chromosome;
      end = 0;
    }
    require(end <= record.begin && record.begin < record.end, "values are sorted and do not overlap");
    require(std::isfinite(record.value) && record.decimals >= 0, "values are numbers");
    end = record.end;
  }
  const auto bin = reader.bin_size();
  require(!bin || *bin > 0, "bins have a size");
}

void read_boundaries(std::span<const std::uint8_t> bytes) {
  for (const BoundaryRecord& record : read_boundary_table(as_file(bytes)).boundaries) {
    require(record.position >= 0 && record.lower.has_value() == record.upper.has_value(),
            "intervals have two ends");
    require(!record.lower || (*record.lower <= record.position && record.position <= *record.upper),
            "an interval holds its boundary");
  }
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] { read_values(bytes); });
  allow_refusal([&] { read_boundaries(bytes); });
}

}  // namespace semicrf::fuzz
