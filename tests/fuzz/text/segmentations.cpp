// Segmentations as describe, compare, enrich and import read them; and the same bytes as an annotation. The
// numbers of a segmentation must agree with each other, and it must agree with itself.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fuzz/fuzz_input.h"
#include "io/segments/segmentation.h"
#include "segmentation/agreement.h"
#include "segmentation/annotation.h"
#include "segmentation/segment_counts.h"

namespace semicrf::fuzz {
namespace {

void check_order(const SegmentationFile& file) {
  require(!file.chromosomes.empty() && !file.labels.empty(), "a segmentation has segments");
  for (const SegmentedChromosome& chromosome : file.chromosomes) {
    require(file.find(chromosome.name) == &chromosome, "chromosomes are found by name");
    std::int64_t end = 0;
    for (const LabelledSegment& segment : chromosome.segments) {
      require(end <= segment.begin && segment.begin < segment.end, "segments are sorted and do not overlap");
      require(segment.label < file.labels.size(), "labels are known");
      require(segment.score == -1 || (segment.score >= 0 && segment.score <= 1), "scores are probabilities");
      end = segment.end;
    }
  }
}

// Whether the sums of all lengths stay within 64 bits.
bool has_sums(const SegmentationFile& file) {
  double bases = 0;
  for (const SegmentedChromosome& chromosome : file.chromosomes)
    for (const LabelledSegment& segment : chromosome.segments) bases += static_cast<double>(segment.size());
  return bases < 1e18;
}

void check_numbers(const SegmentationFile& file) {
  const std::vector<DecodedLabelStats> labels = summarize(file, nullptr);
  std::int64_t bases = 0;
  for (const DecodedLabelStats& label : labels) {
    bases += label.bases;
    require(!label.posterior || (*label.posterior >= 0 && *label.posterior <= 1),
            "posteriors are probabilities");
  }
  require(bases == file.bases(), "the bases of all labels are all bases");
  require(!summary_text(labels).empty() && !transitions_text(labels).empty(), "tables have lines");
}

void check_agreement(const SegmentationFile& file) {
  const std::vector<Sample> samples{{"a", file}, {"b", file}};
  require_one_genome(samples);
  const Agreement agreement = compare_samples(samples);
  require(agreement.differences.empty() && agreement.pairs.size() == 1, "a segmentation agrees with itself");
  require(agreement.pairs[0].agreeing() == agreement.pairs[0].common(), "with all of its bases");
  require(!pairs_text(samples, agreement).empty() && !jaccard_text(samples, agreement).empty(),
          "tables have lines");
}

void check_annotation(Annotation annotation) {
  const auto sorted = [&] {
    for (const auto& [chromosome, intervals] : annotation.chromosomes) {
      for (const AnnotatedInterval& one : intervals)
        require(0 <= one.begin && one.begin < one.end, "intervals are not empty");
      require(std::ranges::is_sorted(intervals, {}, &AnnotatedInterval::begin), "intervals are sorted");
    }
  };
  sorted();
  Annotation anchors = annotation;
  take_anchors(anchors, Anchor::kEnd);
  merge_overlaps(annotation);
  sorted();
  take_centres(annotation);
  sorted();
}

}  // namespace

void run(std::span<const std::uint8_t> bytes) {
  allow_refusal([&] {
    const SegmentationFile file = read_segmentation(as_file(bytes));
    check_order(file);
    if (!has_sums(file)) return;
    check_numbers(file);
    check_agreement(file);
    const SegmentDurations durations = read_segment_durations(as_file(bytes), file.labels, 1);
    require(durations.seen.size() == file.labels.size(), "durations of all labels");
  });
  allow_refusal([&] { check_annotation(read_annotation("a=" + as_file(bytes))); });
  allow_refusal([&] {
    for (const Annotation& annotation : read_named_annotations("a=" + as_file(bytes)))
      check_annotation(annotation);
  });
}

}  // namespace semicrf::fuzz
