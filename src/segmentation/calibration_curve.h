// How often a base is reproduced in a replicate, by the posterior of its label: a curve that never falls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace semicrf {

// Probabilities in cells, which are finest near 0 and 1: p rounded to six decimals is known to three digits
// of p or of 1 - p, whichever is smaller.
inline constexpr std::size_t kProbabilityCells = 6401;
std::size_t probability_cell(double p);       // p in [0, 1]; grows with p
double lowest_probability(std::size_t cell);  // the smallest p, a multiple of 1e-6, in the cell

// Bases of one label by the cell of its posterior.
class ReproducedBases {
 public:
  struct Count {
    std::int64_t bases = 0;
    std::int64_t reproduced = 0;
  };
  ReproducedBases() : cells_(kProbabilityCells) {}

  void add(double p, std::int64_t bases, bool reproduced);
  ReproducedBases& operator+=(const ReproducedBases& other);

  const std::vector<Count>& cells() const { return cells_; }  // by probability_cell()
  Count all() const;

 private:
  std::vector<Count> cells_;
};

// Isotonic regression (pool adjacent violators, weighted by bases) of the share that is reproduced over
// strata of the posterior. Strata are made from the highest cell downwards, each of at least a hundredth of
// all bases; what remains at the low end belongs to the lowest one.
class CalibrationCurve {
 public:
  struct Stratum {
    std::size_t lowest_cell = 0;  // with bases
    ReproducedBases::Count count;
    double r = 0;  // the fitted share
  };

  CalibrationCurve() = default;  // fitted to nothing: empty
  explicit CalibrationCurve(const ReproducedBases& bases);

  bool empty() const { return strata_.empty(); }
  // The r-value of a base with this posterior: that of the last stratum which begins at or below its cell, or
  // of the first one. Not for an empty curve.
  double at(double p) const { return at_cell(probability_cell(p)); }
  double at_cell(std::size_t cell) const;

  const std::vector<Stratum>& strata() const { return strata_; }  // by rising posterior

 private:
  std::vector<Stratum> strata_;
};

}  // namespace semicrf
