// How sure the model is: posteriors at the segments and along the parts.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "report/data/basis.h"
#include "report/data/loci.h"

namespace semicrf {

// Entropy of an event of probability p, bits.
double event_entropy(double p);

inline constexpr std::size_t kProbabilityClasses = 20;  // equal widths over 0..1; 1 belongs to the last

struct ProbabilityClasses {
  std::array<double, kProbabilityClasses> counts{};
  double total = 0, sum = 0;  // sums of the counts, and of the probabilities times their counts

  void add(double p, double count);
  std::optional<double> mean() const;
};

// A stretch of a part.
struct CertaintyWindow {
  std::size_t part = 0;
  std::int64_t begin = 0, end = 0;  // bases
  double bins = 0;                  // with a segment
  std::optional<double> called;     // mean probability of the label that its bins have
  std::optional<double> boundary;   // mean entropy of a boundary at a bin, bits
};

struct Certainty {
  bool has_boundaries = false;
  std::vector<ProbabilityClasses> starts;  // by label: P(boundary) where its segments start
  double expected = 0;                     // boundaries: sum of P over bins with a segment
  std::int64_t called = 0;                 // boundaries of the segments, where P is known
  std::int64_t given = 0;                  // starts at the first bin of a piece, not counted above

  bool has_labels = false;                        // either from label posteriors, of each bin,
  bool is_of_segments = false;                    // or of column 5, one mean for each segment
  std::vector<ProbabilityClasses> called_labels;  // by label: P(label) of its bins
  // The longest of shown_parts() has kWindows of them; each other part is one window.
  std::vector<CertaintyWindow> windows;
};

inline constexpr std::int64_t kWindows = 280;

// Parts with segments that are drawn, at most 25: the longest where there are more. In their order.
std::vector<std::size_t> shown_parts(const ReportBasis& basis);

// `called`: by part, the probability of the label that each bin has, from label posteriors; empty: not given,
// then column 5 of the segments serves. `boundary`: as read_bin_values() gives it, or empty.
Certainty measure_certainty(const ReportBasis& basis, const BinValues& boundary, const BinValues& called);

// Reads the label posteriors, one label after the other: the probability of the label that each bin has, by
// part; and the columns of the loci. InputError: a label without a file, and those of read_bin_values().
BinValues read_called_labels(const std::string& prefix, const ReportBasis& basis, std::vector<Locus>& loci);

}  // namespace semicrf
