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
  // `precision`: the precision of the engine; `scored`: where the scores of the entropy are, or null;
  // `roles`: the roles of a piece that was cut, or null, see PosteriorSelection. All must outlive this
  // object.
  PosteriorSumming(const ChainModel& model, Precision precision, ScoreSource* scored, const EdgeRoles* roles,
                   int threads);

  // Counts for the engine to add to, window by window from the left.
  ExpectedCounts& counts() { return sums_.counts; }
  // Adds the next positions: labels, starts and ends, and the scores that they were computed from.
  void add(const PosteriorBlock& block, const ScoreWindow& scores);
  // The sums, after the last position; to be called once. They are over the chain's labels, but the entropies
  // by label are over those of its base.
  PosteriorSums finish(double log_partition);

 private:
  void add_entropies(std::span<const double> rows);

  std::size_t labels_;
  const EdgeRoles* roles_;
  int threads_;
  ExpectedScore score_;              // expected score, by the scores of the sequence
  std::optional<CrossScore> cross_;  // used in place of score_ where the scores lie elsewhere
  PosteriorSums sums_;
  std::vector<double> entropies_;  // terms of the entropies by label in a slab
};

}  // namespace semicrf
