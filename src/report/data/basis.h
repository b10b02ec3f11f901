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
#include "segmentation/segment_counts.h"

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

// Posteriors from files, a value per bin.
//
// By part: (bins), NaN where the file has no value; empty where it has none on the whole part.
using BinValues = std::vector<std::vector<float>>;

// bedGraph or bigWig of probabilities. InputError with the place: a value outside of 0..1, an edge inside of
// a bin, no chromosome in common with the parts, small values left out (--min-posterior).
BinValues read_bin_values(const std::string& path, const ReportBasis& basis);

}  // namespace semicrf
