// How much more often than by chance labels lie on annotation.
//
// fold = (C/A) / (B/D): A bases of the label, B bases of the annotation, C bases of both, D bases of all
// segments; what lies outside all segments does not count (Ernst and Kellis, Nature Protocols 12, 2478,
// 2017). Of centres, B and C count these. With posteriors A and C are expected numbers: the sums of P(label)
// over the bases.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text/statistic.h"
#include "io/segments/segmentation.h"
#include "segmentation/annotation.h"
#include "segmentation/label_tracks.h"

namespace semicrf {

struct Overlap {
  double label = 0, annotation = 0, both = 0, all = 0;  // A, B, C, D

  std::optional<double> fold() const;  // nothing where A or B is 0
};
// `annotation`: the name of B, which is a number of anchors around such.
StatisticList<Overlap> overlap_statistics(std::string_view annotation = "annotation_bases");

// (C) by label of the segmentation. The annotation has no overlaps. `tracks`: of every label, in place of the
// segments' labels, or empty.
std::vector<Overlap> overlaps(const SegmentationFile& segmentation, const Annotation& annotation,
                              const std::vector<LabelTrack>& tracks);

// InputError unless a chromosome of one of the annotations, which came from `argument`, has segments; and
// where lengths of chromosomes, which bigBed files have, tell that they are of another genome.
void require_common_chromosome(std::span<const Annotation> annotations, const std::string& argument,
                               const SegmentationFile& segmentation);

// Around anchors: positions every `step` bases, `upstream` of them before an anchor and `downstream` after
// it, in the direction of its strand.
struct Surroundings {
  std::int64_t step = 200;  // bases
  int upstream = 10, downstream = 10;

  int positions() const { return upstream + 1 + downstream; }
};

// (C, positions) row-major: fold as above, of the bases at this distance from the anchors; those outside all
// segments do not count. `tracks` as for overlaps().
std::vector<Overlap> neighbourhood(const SegmentationFile& segmentation, const Annotation& anchors,
                                   const Surroundings& surroundings,
                                   const std::vector<LabelTrack>& tracks = {});

// What annotation has on chromosomes without segments, which does not count; of several annotations in one
// sentence.
class ElsewhereCount {
 public:
  // Before intervals are merged or made centres.
  void add(const Annotation& annotation, const SegmentationFile& segmentation);
  // Nothing where all intervals are on chromosomes with segments.
  std::optional<Warning> warning() const;

 private:
  std::vector<std::string> of_annotation_;  // "3 of 12 intervals of NAME", the first ones
  std::size_t elsewhere_ = 0;               // annotations with such intervals
  std::set<std::string> chromosomes_;
};

// Bases of the annotation on chromosomes that have segments, and those of them within segments.
struct Inside {
  double bases = 0, within = 0;
};
Inside inside_segments(const SegmentationFile& segmentation, const Annotation& annotation);
// Annotation of another genome may have the same chromosome names: a sentence, to be put behind the name of
// the annotation, where less than half of these bases are within; else empty.
std::string outside_text(const Annotation& annotation, const SegmentationFile& segmentation);

}  // namespace semicrf
