// What every section starts from: the model, the segments in bases and in bins, and the open tracks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/segment.h"
#include "draw/svg.h"
#include "inputs/input_set.h"
#include "io/params/params_json.h"
#include "io/segments/segmentation.h"
#include "report/report_options.h"
#include "segmentation/label_summary.h"

namespace semicrf {

// An NPY array or one chromosome. Positions are bins from its first one on.
struct Part {
  std::string title, chromosome;
  std::int64_t origin = 0;  // base at which bin 0 begins
  std::int64_t length = 0;  // bases
  std::int64_t bins = 0;
  std::vector<Segment> segments;  // sorted, disjoint
  std::vector<float> scores;      // score of each segment: mean posterior of its label; -1: not known

  std::int64_t base_of(std::int64_t bin, std::int64_t bin_size) const {
    return std::min(origin + bin * bin_size, origin + length);
  }
};

struct ReportBasis {
  ParameterFile file;
  SegmentationFile segmentation;  // its labels are those of the model, in its order
  std::vector<Rgb> colors;        // colours of the labels
  std::vector<DecodedLabelStats> labels;
  std::optional<InputSet> inputs;   // that give raw values of bins; absent: no tracks were given
  std::vector<std::string> tracks;  // names of their columns
  bool tracks_are_scores = false;   // tracks are scores of labels; else values before any transform
  std::vector<Part> parts;          // in the order of the inputs, or of the segments

  const Parameters& model() const { return file.parameters; }
  const std::string& label(std::size_t c) const { return file.parameters.labels[c].name; }
  std::size_t num_labels() const { return file.parameters.labels.size(); }
  std::int64_t bin_size() const { return file.parameters.bin_size; }
};

// Reads and checks them. InputError, with line and chromosome: segments with a label that the model lacks, of
// a chromosome that the tracks lack or that is longer there; the errors of InputSet.
ReportBasis read_basis(const ReportOptions& options);

}  // namespace semicrf
