// Compares posteriors that were written to files with a true segmentation.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "eval/eval_input.h"
#include "eval/metrics/reliability.h"
#include "eval/metrics/stretches.h"

namespace semicrf {

// Files of which the calibration is asked for, and what it is written to.
struct CalibrationOptions {
  std::string posterior;  // bedGraph of the boundary posterior, or empty
  std::string labels;     // what posterior --labels-out was given: a prefix, or [name=]FILE.npy; or empty
  std::string intervals;  // table of decode --boundaries, or empty
  std::string picture;    // SVG of the reliability to write, or empty
  int bins = kReliabilityBins;

  bool wanted() const { return !posterior.empty() || !labels.empty() || !intervals.empty(); }
};

// What is known besides.
struct CalibrationTruth {
  std::map<std::string, std::vector<Stretch>> stretches;  // evaluated ones of each chromosome, in bases
  std::optional<std::int64_t> bin_size;                   // bases, given by parameters or by --bin-size
  std::vector<std::string>
      model_labels;  // labels of the parameters, whose numbers are their places; or empty
};

// `labels` numbers those of the truth; names of files that it lacks are added. `warnings` gets what should be
// known. InputError: a file that is no posterior, another bin size, no chromosome in common. UsageError: the
// bin size or the chromosome of an array is not known.
CalibrationReport calibrate(const CalibrationOptions& options, const CalibrationTruth& truth,
                            LabelNumbers& labels, std::vector<Warning>& warnings);

}  // namespace semicrf
