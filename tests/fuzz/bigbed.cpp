// bigBed files.
#include "fuzz/fuzz_input.h"
#include "io/bigwig/bigbed_reader.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    BigBedFile file(as_file(bytes));
    for (BigBedInterval interval; file.next(interval);) {
      require(interval.chrom < file.chromosomes().size(), "intervals have a chromosome");
      require(0 <= interval.begin && interval.begin < interval.end, "intervals are not empty");
      require(interval.end <= file.chromosomes()[interval.chrom].length, "intervals end on their chromosome");
    }
  });
}

}  // namespace semicrf::fuzz
