// Segmentations of several samples over one genome: where they agree.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "io/segments/segmentation.h"

namespace semicrf {

struct Sample {
  std::string name;
  SegmentationFile segmentation;
};

// The samples of [name=]PATH arguments. UsageError: two have one name; errors of read_segmentation().
std::vector<Sample> read_samples(const std::vector<std::string>& arguments);

// A stretch that segments of every sample cover, with one label in each.
struct JointStretch {
  std::string chromosome;
  std::int64_t begin = 0, end = 0;    // bases, half-open
  std::vector<std::uint32_t> labels;  // by sample, of JointLabels

  std::int64_t size() const { return end - begin; }
};

// The names of all labels of all samples, in natural order, and which of them each sample's labels are.
struct JointLabels {
  std::vector<std::string> names;
  std::vector<std::vector<std::uint32_t>> of_sample;
};
// InputError where two samples have no label in common.
JointLabels join_labels(const std::vector<Sample>& samples);
// InputError where lengths of chromosomes, which bigBed files have, tell that the genomes differ.
void require_one_genome(const std::vector<Sample>& samples);
// The labels that not all samples have, each with the names of samples without it: "E3 (not in a, b)".
std::vector<std::string> partial_labels(const std::vector<Sample>& samples, const JointLabels& labels);

// Chromosomes that not all samples have, in the same form.
std::vector<std::string> partial_chromosomes(const std::vector<Sample>& samples);

// Calls visit for every stretch, chromosome by chromosome in the order of the first sample, from left to
// right. Chromosomes that some sample lacks are left out. InputError where no stretch is covered by all.
void visit_stretches(const std::vector<const SegmentationFile*>& samples, const JointLabels& labels,
                     const std::function<void(const JointStretch&)>& visit);

// Two samples a and b: bases of each pair of labels that occurs, by (label in a, label in b).
struct PairAgreement {
  std::size_t a = 0, b = 0;
  std::map<std::pair<std::uint32_t, std::uint32_t>, double> bases;

  double common() const;                              // bases
  double agreeing() const;                            // bases with the same label in both
  std::optional<double> adjusted_rand_index() const;  // whatever the names of the labels
};

struct Agreement {
  JointLabels labels;
  std::vector<PairAgreement> pairs;       // a < b, in the order of the samples
  std::vector<JointStretch> differences;  // not all labels equal; widest first, then in their order
};
Agreement compare_samples(const std::vector<Sample>& samples);

// A line per pair: a, b, bases covered by both, bases with the same label, their share, adjusted Rand index.
std::string pairs_text(const std::vector<Sample>& samples, const Agreement& agreement);
// A line per pair and label: bases with it in a, in b, in both, in either, and both over either (Jaccard's
// index).
std::string jaccard_text(const std::vector<Sample>& samples, const Agreement& agreement);
// A line per pair and two different labels that some base has: its label in a, in b, bases, share of the
// common ones.
std::string switches_text(const std::vector<Sample>& samples, const Agreement& agreement);
// The labels of a stretch by sample, with | between them.
std::string joint_name(const JointStretch& stretch, const JointLabels& labels);
// BED of the differences; names are the labels by sample with | between them.
std::string differences_text(const Agreement& agreement);

}  // namespace semicrf
