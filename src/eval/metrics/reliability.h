// Calibration: how well predicted probabilities and intervals agree with what happened, and the text that
// says so. docs/users/evaluation.md defines the numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/counts.h"
#include "core/text/statistic.h"
#include "eval/metrics/stretches.h"

namespace semicrf {

inline constexpr int kReliabilityBins = 10;

// The events whose probability lies in one part of [0, 1].
struct ReliabilityBin {
  std::int64_t count = 0;
  std::int64_t events = 0;   // events that happened
  double predicted_sum = 0;  // sum of the probabilities

  // Absent in an empty bin.
  std::optional<double> mean_predicted() const;
  std::optional<double> observed() const;  // share that happened
  // Bounds of Wilson's 95 % interval of the share that happens, were the events independent. count > 0.
  double observed_lower() const;
  double observed_upper() const;
};

// A bin beside the part of [0, 1] that it is of.
struct ReliabilityPart : ReliabilityBin {
  double lower = 0, upper = 1;
};
const StatisticList<ReliabilityPart>& reliability_part_statistics();

class Reliability {
 public:
  // `bins` >= 1 parts of [0, 1] of equal width; part i begins at i / bins, and 1 belongs to the last.
  explicit Reliability(int bins = kReliabilityBins);

  // `count` events of probability p in [0, 1], `events` of which happened. A p of exactly 0 or 1 enters the
  // log loss as `resolution` away from it: half of the last digit with which p was written.
  void add(double p, double resolution, std::int64_t count, std::int64_t events);

  const std::vector<ReliabilityBin>& bins() const { return bins_; }
  std::vector<ReliabilityPart> parts() const;  // from 0 to 1
  double lower(std::size_t bin) const { return ratio(bin, bins_.size()); }
  std::int64_t count() const;
  std::int64_t events() const;
  double squared_error() const {
    return squared_error_;
  }                                                  // sum of (p - y)^2, y = 1 where it happened, else 0
  double event_loss() const { return event_loss_; }  // sum of -ln p over what happened

  // Means over all events; absent when there is none.
  std::optional<double> mean_predicted() const;
  std::optional<double> observed() const;
  std::optional<double> brier() const;
  std::optional<double> log_loss() const;  // nats
  // Mean over the events of |mean prediction - share that happened| of their bin.
  std::optional<double> calibration_error() const;

  // Adds the events of another one with as many bins.
  Reliability& operator+=(const Reliability& other);

 private:
  std::size_t bin_of(double p) const;
  std::optional<double> mean(double sum) const;

  std::vector<ReliabilityBin> bins_;
  double squared_error_ = 0;
  double event_loss_ = 0;
  double other_loss_ = 0;  // sum of -ln (1-p) over what did not happen
};
const StatisticList<Reliability>& reliability_statistics();

// How often the intervals that a decode gives for its boundaries hold the true ones. docs/users/evaluation.md
// defines the numbers.
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
const StatisticList<IntervalCoverage>& interval_statistics();

// The boundary posterior: the event is that a true segment starts in the bin.
struct BoundaryCalibration {
  std::string file;
  std::int64_t missing = 0;  // bases that the truth labels and the file has no value for
  Reliability reliability;
};

// The posterior of one label: the event is that the bin has this label.
struct LabelCalibration {
  std::string name;
  Reliability reliability;
};

// The posteriors of all labels.
struct LabelsCalibration {
  std::string file;  // or the beginning of the names of several
  std::int64_t missing = 0;
  std::int64_t bins = 0;     // evaluated
  std::int64_t unknown = 0;  // evaluated bins whose true label has no posterior; it counts as 0
  std::vector<LabelCalibration> labels;

  Reliability pooled() const;  // over all pairs of a bin and a label
  // Means over bins, absent without bins: of the sum over labels of (p - y)^2, and of -ln P(true label).
  std::optional<double> brier() const;
  std::optional<double> log_loss() const;
};
const StatisticList<LabelsCalibration>& label_posterior_statistics();

struct IntervalCalibration {
  std::string file;
  std::optional<double>
      level;  // nominal: the probability that an interval shall have, where the header says it
  IntervalCoverage coverage;
};

struct CalibrationReport {
  std::int64_t bin_size = 1;  // bases
  std::optional<BoundaryCalibration> boundaries;
  std::optional<LabelsCalibration> labels;
  std::optional<IntervalCalibration> intervals;
};

// Tables for people.
std::string calibration_text(const CalibrationReport& report);

}  // namespace semicrf
