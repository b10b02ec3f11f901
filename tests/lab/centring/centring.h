// Emission baseline centring (section 4 of the paper): the worked example, and sequences with rare labels on
// which centrings are compared.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/segment.h"
#include "lab/product.h"

namespace semicrf::lab {

// One label of Table 1: a score where it is the true label, another where it is not, and its share of the
// positions.
struct ToyLabel {
  const char* name;
  double active, inactive, prevalence;
  double baseline() const { return prevalence * active + (1 - prevalence) * inactive; }  // nu, eq. (1)
  double contrast() const { return active - baseline(); }
};
inline constexpr std::array<ToyLabel, 3> kToyLabels{
    {{"intron", 4.0, -1.0, 0.85}, {"exon", 5.0, -0.5, 0.14}, {"promoter", 8.0, -0.2, 0.01}}};

// Three labels. Segments take a label by `shares` and 5 to 15 positions, alike; the true label scores +3, the
// others -1 (which gives the baselines that Table 2 of the paper prints), plus N(0, noise^2).
struct RareLabels {
  std::array<double, 3> shares{0.75, 0.15, 0.10};
  double noise = 1;
  std::int64_t length = 2000;
};
struct LabelledSequence {
  std::vector<double> emissions;  // (T, 3)
  std::vector<Segment> truth;     // as drawn: neighbours may have the same label
};
LabelledSequence draw(const RareLabels& setting, std::uint64_t seed);

// Durations 5 to 15 alike, all transitions alike: what the sequences were drawn from.
ChainModel rare_labels_model();

std::vector<double> means_of(const std::vector<double>& emissions, int labels);
// Largest |S[t,c]|, eq. (2), after `baseline` was subtracted (empty: nothing).
double largest_sum(const std::vector<double>& emissions, int labels, const std::vector<double>& baseline);

struct Agreement {
  std::array<double, 3> segments{};  // as they are, neighbours of one label counted apart
  double accuracy = 0;               // positions
  double rare_f1 = 0;                // positions of label 2
  // Segments of label 2 that overlap a true one by half of their union; neighbours of one label are merged
  // first.
  double rare_segment_f1 = 0;
};
Agreement compare(const std::vector<Segment>& truth, const std::vector<Segment>& found, std::int64_t length);

}  // namespace semicrf::lab
