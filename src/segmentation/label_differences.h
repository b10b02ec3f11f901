// Where conditions differ in their labels, from the label posteriors of each: the numbers.
//
// Given the tracks, the segmentations of the conditions are independent of each other, each distributed as
// its model says. So the probability that not all of them have the same label at a base is 1 - sum_c prod_s
// P_s(c), and expected numbers of differing bases are sums of it, both exactly. What is said of a whole
// stretch at once (that it differs everywhere, or nowhere) would need more than these posteriors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "segmentation/calibration_curve.h"

namespace semicrf {

// P(not all conditions have the same label), linear, in [0, 1]. `posteriors`: P(label) by condition and
// label, row-major, each row adding up to 1.
double difference_probability(std::span<const double> posteriors, std::size_t labels);

// The most probable labels of all conditions that are not all the same; of several the first by the
// conditions' order. At least two conditions and two labels.
std::vector<std::uint32_t> likeliest_difference(std::span<const double> posteriors, std::size_t labels);

// Bases by the cell (probability_cell()) of their P(differs).
class DifferenceCurve {
 public:
  struct Count {
    std::int64_t bases = 0;
    double same = 0;  // expected bases with the same label: the sum of 1 - P
  };
  DifferenceCurve() : cells_(kProbabilityCells) {}

  void add(double p, std::int64_t bases);
  // What lies in the cell.
  const Count& in(std::size_t cell) const { return cells_[cell]; }
  // By cell: what lies in it or above.
  std::vector<Count> sums() const;

 private:
  std::vector<Count> cells_;
};

// Ways to put the replicates of two conditions into two groups of the same sizes which mix the conditions as
// evenly as these sizes allow: what differs between such groups does not come from the conditions.
//
// Each lists for every replicate, those of the first condition in front, whether it is in the first group.
// Empty for one replicate each. At most kMostRelabellings of them, evenly spread over all. UsageError: more
// replicates than kMostReplicates in all.
inline constexpr std::size_t kMostRelabellings = 64, kMostReplicates = 20;
std::vector<std::vector<char>> mixed_groups(std::size_t first, std::size_t second);

// The curve between conditions, and that between mixed groups of their replicates.
struct DifferenceCurves {
  DifferenceCurve conditions, mixed;
  std::int64_t relabellings = 0;  // whose bases are added up in `mixed`; 0: there are no replicates

  // Bases of the conditions whose P lies in a cell or above, and which share of these is false.
  struct Point {
    std::size_t cell = 0;
    std::int64_t bases = 0;
    double same_share = 0;             // the mean of 1 - P: the expected share without a difference
    double null_bases = 0;             // in the mean of the relabellings
    std::optional<double> null_share;  // null_bases over bases, at most 1; where there are replicates
  };
  // By rising cell, of the cells with bases of the conditions.
  std::vector<Point> points() const;
};

// The lowest cell from which on the two shares add up to `rate` at most. The first one is what the posteriors
// leave open, the second one what differs for another reason than the conditions. nullopt: there is none.
std::optional<std::size_t> lowest_cell(const DifferenceCurves& curves, double rate);

}  // namespace semicrf
