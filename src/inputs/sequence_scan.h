// The pass over a whole sequence that comes before its pieces: which bins are missing, and the mean of its
// rows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "inputs/piece_source.h"
#include "model/bins.h"

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

// The scan of a sequence that is one piece and lacks no value, and its mean if that is wanted, from sums that
// the engine makes while it copies the scores or features to its device, where it then finds them
// (SequenceScores::prefetch). The same digits. Nothing where rows do not lie in memory as scores or features,
// where the engine has no device or too little room, where it is not worth it, or where a value is missing or
// not sound: then scan_sequence() says which.
std::optional<SequenceScan> scan_on_device(SequenceScores& scores, Engine& engine, bool want_mean);

}  // namespace semicrf
