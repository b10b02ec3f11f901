// What the posteriors say about a segment, for the formats that print it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/segment.h"

namespace semicrf {

// Positions of a boundary, in bins of the piece, both included: a segment starts at one of them.
struct BoundaryInterval {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
};

// Probabilities in [0, 1].
struct SegmentSupport {
  double mean_label_posterior = 0;  // mean over its bins of P(label|t); the score of BED is 1000 times that
  double start_posterior = 0;       // P(a segment of this label starts at its first bin)
  double end_posterior = 0;         // P(a segment of this label ends at its last bin)
  std::optional<double> exact_posterior = {};  // P(exactly this segment); absent: not known
  // interval of its start; absent: not known, or there is none
  std::optional<BoundaryInterval> start_interval = {};
};

// Makes `left` the union of two touching segments of one label: the mean over the bins of both, the start of
// the left one, the end of the right one, and no exact posterior, as it is not a segment of the model.
void join_segments(Segment& left, SegmentSupport& left_support, const Segment& right,
                   const SegmentSupport& right_support);

// Hands segments on, from left to right and piece by piece; touching ones of one label as one where that is
// asked for.
class SegmentJoiner {
 public:
  explicit SegmentJoiner(bool joins) : joins_(joins) {}
  bool joins() const { return joins_; }

  // Calls emit(segment, support) with what is complete.
  template <class Emit>
  void add(const Segment& segment, const SegmentSupport& support, Emit emit) {
    if (joins_ && pending_ && pending_->first.label == segment.label &&
        pending_->first.end == segment.begin) {
      join_segments(pending_->first, pending_->second, segment, support);
      return;
    }
    finish(emit);
    pending_ = {segment, support};
  }
  // At the end of a piece.
  template <class Emit>
  void finish(Emit emit) {
    if (pending_) emit(pending_->first, pending_->second);
    pending_.reset();
  }

 private:
  bool joins_;
  std::optional<std::pair<Segment, SegmentSupport>> pending_;
};

}  // namespace semicrf
