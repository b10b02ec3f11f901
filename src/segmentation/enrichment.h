// How much more often labels lie on annotation than chance would have it.
//
// fold = (C/A) / (B/D): A bases of the label, B bases of the annotation, C bases of both, D bases of all
// segments; what lies outside all segments does not count (Ernst and Kellis, Nature Protocols 12, 2478,
// 2017). Of centres, B and C count these. With posteriors A and C are expected numbers: the sums of P(label)
// over the bases.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/text/segmentation.h"
#include "segmentation/annotation.h"

namespace semicrf {

// P(label) of every base, as a step function.
struct LabelTrack {
  struct Step {
    std::int64_t begin = 0, end = 0;
    double value = 0;
  };
  std::map<std::string, std::vector<Step>> chromosomes;  // sorted, not overlapping; elsewhere 0
};

// Of each label of the segmentation. `prefix`: of the files that `posterior --labels-out PREFIX` writes.
// InputError: a label without a file, a bedGraph that is not sorted or has values outside 0..1; ReadError.
std::vector<LabelTrack> read_label_tracks(const std::string& prefix, const SegmentationFile& segmentation);

struct Overlap {
  double label = 0, annotation = 0, both = 0, all = 0;  // A, B, C, D

  std::optional<double> fold() const;  // nothing where A or B is 0
};

// (C) by label of the segmentation. The annotation has no overlaps. `tracks`: of every label, or empty.
std::vector<Overlap> overlaps(const SegmentationFile& segmentation, const Annotation& annotation,
                              const std::vector<LabelTrack>& tracks);

// InputError unless a chromosome of the annotation, which came from `argument`, has segments.
void require_common_chromosome(const Annotation& annotation, const std::string& argument,
                               const SegmentationFile& segmentation);

// Around anchors: positions every `step` bases, `upstream` of them before an anchor and `downstream` after
// it, in the direction of its strand.
struct Surroundings {
  std::int64_t step = 200;  // bases
  int upstream = 10, downstream = 10;

  int positions() const { return upstream + 1 + downstream; }
};

// (C, positions) row-major: fold as above, of the bases at this distance from the anchors; those outside all
// segments do not count.
std::vector<Overlap> neighbourhood(const SegmentationFile& segmentation, const Annotation& anchors,
                                   const Surroundings& surroundings);

}  // namespace semicrf
