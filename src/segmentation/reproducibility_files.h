// Tables and tracks of what a replicate reproduces.
#pragma once

#include <string>
#include <vector>

#include "io/files/output_file.h"
#include "io/text/chromosomes.h"
#include "segmentation/reproducibility.h"

namespace semicrf {

// A line per label, then one for all of them together, whose label and match are "."; columns are label,
// match and reproducibility_statistics().
std::string reproducibility_text(const Reproducibility& found);
// A line per stratum of each label's curve: label, its lowest posterior, bases, the share of them that is
// reproduced, the r-value.
std::string curves_text(const Reproducibility& found);
// A line per label and number of labels of the second that are taken together: label, number, the label that
// was added last, coverage, overlap.
std::string granularity_text(const Reproducibility& found);

// Tracks to write; empty names: not these.
struct RValueFiles {
  std::string r_values;  // bedGraph, or bigWig by its name
  std::string
      confident;  // BED9 of the stretches of a segment with r >= level; score: 1000 times their mean r
};
// `listed`: chromosomes for bigWig, in the order of the first. WriteError; errors of visit_r_values().
void write_r_values(OutputGroup& outputs, const RValueFiles& names, const SegmentationFile& first,
                    const ReproducibilityOptions& options, const std::vector<CalibrationCurve>& curves,
                    const std::vector<Chromosome>& listed);

}  // namespace semicrf
