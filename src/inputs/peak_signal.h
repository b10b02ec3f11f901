// The signal of a track under segments, for lists of peaks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "inputs/input_set.h"
#include "io/text/chromosomes.h"
#include "model/parameters.h"

namespace semicrf {

// The highest bin of a segment. Of several that are as high it is the first.
struct Summit {
  double value = 0;      // the track's mean over the bin, as it is in the file
  std::int64_t bin = 0;  // counted from the first of the piece
};

// Opens the inputs of a run once more and reads bins of segments, piece after piece. Not thread-safe.
class PeakSignal {
 public:
  // Null where the inputs are label scores, which have no tracks.
  static std::shared_ptr<PeakSignal> open(const InputOptions& options, const Parameters& parameters);

  // The summit of bins [begin, end) of a piece in the track that carries the signal of the label: the one in
  // which the label's emission weight is furthest above the mean weight of the others. Nothing where the
  // track has no value there.
  std::optional<Summit> summit(const BinLocation& piece, int label, std::int64_t begin, std::int64_t end);
  // Bytes that stay until the end.
  std::size_t kept_bytes() const { return inputs_.kept_bytes(); }

 private:
  PeakSignal(InputSet inputs, std::vector<std::optional<std::size_t>> column_of);
  void open_sequence(const BinLocation& piece);

  InputSet inputs_;
  std::vector<std::optional<std::size_t>> column_of_;  // by label: its track among the columns of the inputs
  std::size_t sequence_ = 0;                           // whose scores are open
  std::shared_ptr<SequenceScores> scores_;
  RowBuffer buffer_;
};

}  // namespace semicrf
