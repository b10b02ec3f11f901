// How well posteriors agree with a true segmentation, and its text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "eval/metrics/interval_coverage.h"
#include "eval/metrics/reliability.h"

namespace semicrf {

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
