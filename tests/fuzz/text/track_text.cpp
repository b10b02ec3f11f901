// Tracks as text: what the first lines say the bytes are, and the bytes as wig whatever they say.
#include "io/tracks/track_text.h"

#include <cmath>
#include <numeric>
#include <set>
#include <string>

#include "fuzz/fuzz_input.h"
#include "io/tracks/interval_text.h"

namespace semicrf::fuzz {
namespace {

void read_rows(TrackTextReader& reader, std::size_t columns) {
  std::set<std::string> seen;
  std::string chromosome;
  std::int64_t end = 0, line = 0;
  for (TrackRow row; reader.next(row);) {
    if (row.chromosome != chromosome) {
      require(seen.insert(row.chromosome).second, "the rows of a chromosome stand together");
      chromosome = row.chromosome;
      end = 0;
    }
    require(end <= row.begin && row.begin < row.end, "rows are sorted and do not overlap");
    require(row.values.size() == columns, "a row has a value for each column");
    for (const float value : row.values) require(!std::isinf(value), "values are numbers, or none");
    require(row.line > line && !row.file.empty(), "a row has its place");
    end = row.end;
    line = row.line;
  }
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const TrackText text = inspect_track_text(as_file(bytes));
    require(!text.columns.empty(), "a track has a column");
    require(text.format != TrackTextFormat::kTable || text.layout.fields.size() == text.columns.size(),
            "a column of a table is a field");
    std::vector<std::size_t> columns(text.columns.size());
    std::iota(columns.begin(), columns.end(), std::size_t{0});
    read_rows(*open_track_text(text, columns, {}, 200), columns.size());
    read_rows(*open_track_text(text, {columns.data() + columns.size() - 1, 1}, {}, 7), 1);
  });
  allow_refusal([&] { read_rows(*open_wig(as_file(bytes)), 1); });
}

}  // namespace semicrf::fuzz
