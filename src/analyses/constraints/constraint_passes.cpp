#include "analyses/constraints/constraint_passes.h"

#include <algorithm>
#include <array>

#include "analyses/posteriors/log_partition.h"

namespace semicrf {
namespace {

// The penalties that are tried in turn. The smaller a penalty, the more digits are left of the scores at the
// boundary: they are known to 4e-13, 6e-11, 7e-9 and 1e-6. The first is enough where constraints have a
// probability of e^-4000 or more; the last is for scores of -1e9 that mean "impossible".
constexpr std::array kPenalties = {0x1p12, 0x1p19, 0x1p26, kLargestPenalty};
constexpr double kMargin = 45;  // nats; e^-45 is negligible against 1

}  // namespace

bool require_boundaries(Constraints constraints) {
  return std::ranges::find(constraints, Constraint::Kind::kBoundary, &Constraint::kind) != constraints.end();
}

// Segmentations that lack a boundary have, together, at most e^-penalty of the probability without
// constraints.
bool ConstraintFindings::may_lack_boundary(double log, double with_penalty) const {
  return log > kNegativeInfinity && log < kMargin - with_penalty - log_probability;
}

double ConstraintPasses::log_partition(Constraints constraints, double penalty,
                                       const ProgressCallback& progress) {
  ConstrainedSource source(source_, engine_.model(), constraints, threads_, penalty);
  return semicrf::log_partition(engine_, source, plan_, progress);
}

double ConstraintPasses::unconstrained(const ProgressCallback& progress) {
  if (!unconstrained_) unconstrained_ = log_partition({}, 0, progress);
  return *unconstrained_;
}

// Segmentations that lack a boundary have at most e^-penalty of the probability without constraints. That is
// negligible where the probability of the constraints is larger by a factor of e^kMargin.
std::optional<ConstraintFindings> ConstraintPasses::find(Constraints constraints,
                                                         const ProgressCallback& progress) {
  const double all = unconstrained(progress);
  if (all == kNegativeInfinity) return std::nullopt;
  const bool required = require_boundaries(constraints);
  for (const double penalty : kPenalties) {
    const double found =
        log_partition(constraints, penalty, penalty == kPenalties.front() ? progress : nullptr);
    if (found == kNegativeInfinity) return std::nullopt;
    if (!required || all - found < penalty - kMargin)
      return ConstraintFindings{std::min(0.0, found - all), penalty};
  }
  return std::nullopt;
}

std::optional<std::size_t> ConstraintPasses::first_impossible(Constraints constraints) {
  if (unconstrained({}) == kNegativeInfinity) return std::nullopt;
  std::size_t possible = 0, impossible = constraints.size();
  while (impossible - possible > 1) {
    const std::size_t middle = (possible + impossible) / 2;
    (find(constraints.first(middle)) ? possible : impossible) = middle;
  }
  return impossible - 1;
}

}  // namespace semicrf
