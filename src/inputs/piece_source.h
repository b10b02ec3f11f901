// The scores of one piece, from the rows of its sequence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "engine/device_memory.h"
#include "inputs/rows/row_reader.h"
#include "model/bins.h"
#include "model/scores/linear_heads.h"
#include "model/scores/score_source.h"

namespace semicrf {

// What the pieces of one sequence share. Not thread-safe.
struct SequenceScores {
  std::unique_ptr<RowReader> rows;  // label scores, or features when there are heads
  std::shared_ptr<const LinearHeads> heads;
  std::unique_ptr<RowReader> start, end;  // boundary scores given as inputs, or null
  // Counts values missing in `rows`; null: none can be missing.
  std::shared_ptr<MissingCounter> missing_values;
  std::vector<double> baseline;  // nu, (C); empty: 0
  bool subtract_position_max = false;
  Precision precision = Precision::kFloat;
  int threads = 1;
  std::size_t cached_bytes = 0;             // bytes of rows that are kept
  std::uint64_t number = 0;                 // number of the whole sequence's scores, once somebody asked
  std::unique_ptr<ScorePrefetch> prefetch;  // by the engine that computes its only piece, or null
};

// See ScoreWindow::sequence. A piece that is the whole sequence always gets the same number.
std::uint64_t sequence_number(SequenceScores& scores, BinRange piece);

// All scores of a piece where they lie in memory, or the features that heads make them of, not checked,
// without a sequence number; nothing where they are made or copied.
std::optional<ScoreWindow> scores_in_place(const SequenceScores& scores, BinRange piece);

// Positions are counted from the piece's first bin. Keeps a reference to `scores`. Gives features where there
// are heads, but where scores of starts or ends are given beside them: then scores.
std::unique_ptr<ScoreSource> make_piece_source(std::shared_ptr<SequenceScores> scores, BinRange piece);

// The pass over a whole sequence that comes before its pieces: which bins are missing, and the mean of its
// rows.
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
