// Sample sheets: which file is which track of which sample.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace semicrf {

struct SampleRow {
  std::string sample;
  std::string track;
  std::string path;  // relative ones are relative to the sheet, here they are joined with its folder
  std::int64_t line = 0;
  std::string labels = {};   // file of the sample's true segments, as `path`; or empty
  std::string control = {};  // file of reads that `path` is compared with, as `path`; or empty
};

// Columns are separated by tabs; the first line that is neither empty nor begins with # names them. `sample`,
// `track` and `path` must be there, in any order; `labels` and `control` may be; others are ignored.
// InputError with the line: a column missing, an empty field, a track given twice for a sample, a sample with
// two files of labels, no row at all.
std::vector<SampleRow> read_sample_sheet(const std::string& path);

// Its samples, each once, in the order of the rows.
std::vector<std::string> samples_of(const std::vector<SampleRow>& rows);

}  // namespace semicrf
