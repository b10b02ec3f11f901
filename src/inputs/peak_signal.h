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

// The mean over the bins of a segment that have a value, and their number.
struct SignalMean {
  double value = 0;
  std::int64_t bins = 0;
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
  // The mean of the track log2, or of the first track where none has that name.
  SignalMean log_ratio(const BinLocation& piece, std::int64_t begin, std::int64_t end);
  // Bytes that stay until the end.
  std::size_t kept_bytes() const { return inputs_.kept_bytes(); }

 private:
  PeakSignal(InputSet inputs, std::vector<std::optional<std::size_t>> column_of,
             std::optional<std::size_t> log_ratio);
  // Calls visit(value, bin) for the bins with a value.
  template <class Visit>
  void visit_bins(const BinLocation& piece, std::size_t column, std::int64_t begin, std::int64_t end,
                  Visit visit);
  void open_sequence(const BinLocation& piece);

  InputSet inputs_;
  std::vector<std::optional<std::size_t>> column_of_;  // by label: its track among the columns of the inputs
  std::optional<std::size_t> log_ratio_;               // its column
  std::size_t sequence_ = 0;                           // whose scores are open
  std::shared_ptr<SequenceScores> scores_;
  RowBuffer buffer_;
};

}  // namespace semicrf
