// How often the intervals that a decode gives for its boundaries hold the true ones. docs/evaluation.md
// defines the numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eval/stretches.h"

namespace semicrf {

// A boundary of the prediction, in bases.
struct PredictedBoundary {
  std::int64_t position = 0;         // first base of the segment after it
  int label = 0;                     // of that segment
  std::optional<BinRange> interval;  // in bases: where a segment of the label starts; absent: none was given
};

struct IntervalCoverage {
  std::int64_t boundaries =
      0;                       // predicted ones whose interval, or position where there is none, is evaluated
  std::int64_t intervals = 0;  // of these, with an interval
  std::int64_t holding = 0;    // of these, with a true boundary of the label inside
  std::int64_t truth = 0;      // evaluated true boundaries
  std::int64_t inside = 0;     // of these, inside an interval of their label

  std::optional<double> holding_share() const;  // of the intervals
  std::optional<double> inside_share() const;   // of the true boundaries

  // Adds what one chromosome has: its evaluated stretches, the predicted boundaries in any order. An interval
  // is evaluated where one stretch has all of its bases. The first base of a stretch is no true boundary.
  void add(std::span<const Stretch> stretches, std::span<const PredictedBoundary> predicted);
};

}  // namespace semicrf
