// How often the intervals that a decode gives for its boundaries hold the true ones. docs/users/evaluation.md
// defines the numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "eval/metrics/stretches.h"

namespace semicrf {

// A boundary of the prediction, in bases.
struct PredictedBoundary {
  std::int64_t position = 0;         // first base of the segment after it
  int label = 0;                     // label of that segment
  std::optional<BinRange> interval;  // in bases: where a segment of the label starts; absent: none was given
};

struct IntervalCoverage {
  std::int64_t boundaries =
      0;                       // predicted ones whose interval, or position where there is none, is evaluated
  std::int64_t intervals = 0;  // boundaries with an interval
  std::int64_t holding = 0;    // intervals with the start of a true segment of the label inside
  std::int64_t truth = 0;      // true boundaries that had to be found
  std::int64_t inside = 0;     // true boundaries inside an interval of their label

  std::optional<double> holding_share() const;  // holding over intervals
  std::optional<double> inside_share() const;   // inside over true boundaries

  // Adds what one chromosome has: its evaluated stretches, the predicted boundaries in any order. An interval
  // is evaluated where one stretch has all of its bases. At the first base of a stretch no boundary had to be
  // found, but an interval that has this base holds a true segment that starts there.
  void add(std::span<const Stretch> stretches, std::span<const PredictedBoundary> predicted);
};

}  // namespace semicrf
