// The pass over a whole sequence that comes before its pieces: which bins are missing, and the mean of its
// rows.
#pragma once

#include <cstdint>
#include <vector>

#include "model/pieces.h"
#include "pipeline/row_reader.h"

namespace semicrf {

struct ScanRequest {
  std::vector<BinRange> excluded;  // bins that do not count, sorted and disjoint
  bool want_mean = false;
  int threads = 1;
};

struct SequenceScan {
  std::vector<BinRange> missing;  // runs of missing bins, sorted
  std::vector<double> mean;  // (columns) over the bins neither missing nor excluded; empty: not asked for
  std::int64_t masked = 0;   // entries at or below kMaskScore among them
};

// Reads all rows once, unless nothing is asked for and nothing can be missing.
SequenceScan scan_sequence(RowReader& rows, const ScanRequest& request);

}  // namespace semicrf
