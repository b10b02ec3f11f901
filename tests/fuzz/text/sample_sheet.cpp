// Sample sheets.
#include "io/text/sample_sheet.h"

#include <algorithm>
#include <set>

#include "fuzz/fuzz_input.h"

namespace semicrf::fuzz {

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const std::vector<SampleRow> rows = read_sample_sheet(as_file(bytes));
    require(!rows.empty(), "a sheet has rows");
    std::int64_t line = 0;
    std::set<std::pair<std::string, std::string>> seen;
    for (const SampleRow& row : rows) {
      require(!row.sample.empty() && !row.track.empty() && !row.path.empty(), "fields are not empty");
      require(row.line > line, "lines are counted");
      require(seen.emplace(row.sample, row.track).second, "a track of a sample is there once");
      line = row.line;
    }
    const std::vector<std::string> samples = samples_of(rows);
    require(std::set(samples.begin(), samples.end()).size() == samples.size(), "samples are listed once");
    require(std::ranges::all_of(
                rows, [&](const SampleRow& row) { return std::ranges::count(samples, row.sample) == 1; }),
            "all samples are listed");
  });
}

}  // namespace semicrf::fuzz
