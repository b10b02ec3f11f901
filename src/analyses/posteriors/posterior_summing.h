// Adds up the sums of a sequence from the posteriors of its positions.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analyses/posteriors/cross_score.h"
#include "analyses/posteriors/expected_score.h"
#include "analyses/posteriors/posterior_sweep.h"

namespace semicrf {

// Everything is added position by position from the left, so that neither windows nor threads change a digit.
class PosteriorSumming {
 public:
  // `precision`: of the engine; `scored`: where the scores of the entropy are, or null; `roles`: of a piece
  // that was cut, or null, see PosteriorSelection. All must outlive this object.
  PosteriorSumming(const ChainModel& model, Precision precision, ScoreSource* scored, const EdgeRoles* roles,
                   int threads);

  // For the engine to add to, window by window from the left.
  ExpectedCounts& counts() { return sums_.counts; }
  // The next positions: labels, starts and ends, and the scores that they were computed from.
  void add(const PosteriorBlock& block, const ScoreWindow& scores);
  // After the last position. Once. Numbers are those of the chain's labels but for the entropies by label,
  // which are those of its base's.
  PosteriorSums finish(double log_partition);

 private:
  void add_entropies(std::span<const double> rows);

  std::size_t labels_;
  const EdgeRoles* roles_;
  int threads_;
  ExpectedScore score_;              // or
  std::optional<CrossScore> cross_;  // of scores that lie elsewhere
  PosteriorSums sums_;
  std::vector<double> entropies_;  // of the positions of a slab
};

}  // namespace semicrf
