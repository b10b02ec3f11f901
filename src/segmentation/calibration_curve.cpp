#include "segmentation/calibration_curve.h"

#include <algorithm>
#include <cmath>

namespace semicrf {
namespace {

constexpr std::int64_t kOne = 1000000;  // a probability of 1
constexpr std::int64_t kMost = 100;     // strata

// The smaller of p and 1 - p, in units of 1e-6, is known in steps of `unit` from `first` on; the first of
// these steps is number `cell`.
struct Decade {
  std::int64_t first, unit, cell;
};
constexpr std::array<Decade, 4> kDecades = {
    {{0, 1, 0}, {1000, 10, 1000}, {10000, 100, 1900}, {100000, 1000, 2800}}};
constexpr std::int64_t kMiddle = 3200;  // the cell of 1/2
static_assert(2 * kMiddle + 1 == kProbabilityCells);

// The last decade that begins at or below `value`, by a member of it.
const Decade& decade_of(std::int64_t value, std::int64_t Decade::*member) {
  std::size_t i = kDecades.size() - 1;
  while (kDecades[i].*member > value) --i;
  return kDecades[i];
}

double reproduced_share(const ReproducedBases::Count& count) {
  return static_cast<double>(count.reproduced) / static_cast<double>(count.bases);
}

void add_to(ReproducedBases::Count& sum, const ReproducedBases::Count& one) {
  sum.bases += one.bases;
  sum.reproduced += one.reproduced;
}

// Strata by rising posterior, not fitted.
std::vector<CalibrationCurve::Stratum> strata_of(const ReproducedBases& bases) {
  const std::int64_t all = bases.all().bases;
  std::vector<CalibrationCurve::Stratum> strata;
  CalibrationCurve::Stratum open;
  for (std::size_t cell = kProbabilityCells; cell-- > 0;) {
    const ReproducedBases::Count& count = bases.cells()[cell];
    if (count.bases == 0) continue;
    open.lowest_cell = cell;
    add_to(open.count, count);
    if (kMost * open.count.bases < all) continue;
    strata.push_back(open);
    open = {};
  }
  if (open.count.bases > 0) {  // there is one before it, or all bases would have been too few
    strata.back().lowest_cell = open.lowest_cell;
    add_to(strata.back().count, open.count);
  }
  std::ranges::reverse(strata);
  return strata;
}

}  // namespace

std::size_t probability_cell(double p) {
  const std::int64_t whole = std::llround(p * static_cast<double>(kOne));
  const std::int64_t small = std::min(whole, kOne - whole);
  const Decade& decade = decade_of(small, &Decade::first);
  const std::int64_t cell = decade.cell + (small - decade.first) / decade.unit;
  return 2 * whole <= kOne ? cell : 2 * kMiddle - cell;
}

double lowest_probability(std::size_t cell) {
  const std::int64_t number = cell;
  const std::int64_t from_end = std::min(number, 2 * kMiddle - number);
  const Decade& decade = decade_of(from_end, &Decade::cell);
  const std::int64_t small = decade.first + (from_end - decade.cell) * decade.unit;
  const std::int64_t whole = number <= kMiddle ? small : kOne - (small + decade.unit - 1);
  return static_cast<double>(whole) / static_cast<double>(kOne);
}

void ReproducedBases::add(double p, std::int64_t bases, bool reproduced) {
  add_to(cells_[probability_cell(p)], {bases, reproduced ? bases : 0});
}

ReproducedBases& ReproducedBases::operator+=(const ReproducedBases& other) {
  for (std::size_t i = 0; i < cells_.size(); ++i) add_to(cells_[i], other.cells_[i]);
  return *this;
}

ReproducedBases::Count ReproducedBases::all() const {
  Count sum;
  for (const Count& cell : cells_) add_to(sum, cell);
  return sum;
}

CalibrationCurve::CalibrationCurve(const ReproducedBases& bases) : strata_(strata_of(bases)) {
  struct Pool {
    ReproducedBases::Count count;
    std::size_t strata = 0;
  };
  std::vector<Pool> pools;
  for (const Stratum& stratum : strata_) {
    pools.push_back({stratum.count, 1});
    while (pools.size() > 1 &&
           reproduced_share(pools[pools.size() - 2].count) > reproduced_share(pools.back().count)) {
      const Pool last = pools.back();
      pools.pop_back();
      add_to(pools.back().count, last.count);
      pools.back().strata += last.strata;
    }
  }
  auto stratum = strata_.begin();
  for (const Pool& pool : pools)
    for (std::size_t i = 0; i < pool.strata; ++i, ++stratum) stratum->r = reproduced_share(pool.count);
}

double CalibrationCurve::at_cell(std::size_t cell) const {
  const auto behind = std::ranges::upper_bound(strata_, cell, {}, &Stratum::lowest_cell);
  return behind == strata_.begin() ? behind->r : std::prev(behind)->r;
}

}  // namespace semicrf
