// BED, plain or compressed.
#include "fuzz/fuzz_input.h"
#include "io/segments/bed_reader.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    std::int64_t line = 0;
    for (const BedRecord& record : read_bed(as_file(bytes))) {
      require(!record.chromosome.empty(), "chromosomes have names");
      require(0 <= record.begin && record.begin < record.end, "intervals are not empty");
      require(record.fields.size() >= 3, "records have three columns");
      require(record.line > line, "lines are counted");
      line = record.line;
    }
  });
}

}  // namespace semicrf::fuzz
