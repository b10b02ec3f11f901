// Paths as they travel from the device.
#include <cstddef>
#include <vector>

#include "cuda/viterbi/trace_shape.h"
#include "support/catch.h"

using namespace semicrf;
using namespace semicrf::cuda;

TEST_CASE("records hold lengths of any size, however they come in parts") {
  const std::vector<Segment> path{{999'000, 1'000'000, 65535},
                                  {999'000 - kLongLength, 999'000, 7},
                                  {100'001, 999'000 - kLongLength, 0},
                                  {100'000, 100'001, 65535},
                                  {100'001 - kLongLength, 100'000, 3}};
  std::vector<TraceRecord> records;
  for (const Segment& segment : path) {
    const auto length = static_cast<int>(segment.end - segment.begin);
    records.push_back(record_of(length < kLongLength ? length : kLongLength, segment.label));
    if (length >= kLongLength) records.push_back(static_cast<TraceRecord>(length));
  }
  REQUIRE(records.size() == 7);
  for (std::size_t part = 1; part <= records.size(); ++part) {
    RecordReader reader(1'000'000);
    std::vector<Segment> found;
    for (std::size_t first = 0; first < records.size(); first += part) {
      const std::size_t left = records.size() - first;
      reader.read({records.data() + first, left < part ? left : part}, found);
    }
    INFO("parts of " << part);
    CHECK(found == path);
  }
}
