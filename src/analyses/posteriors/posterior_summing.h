// Adds up the sums of a sequence from the posteriors of its positions.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyses/posteriors/cross_score.h"
#include "analyses/posteriors/expected_score.h"
#include "analyses/posteriors/posterior_sweep.h"

namespace semicrf {

// Those of positions whose labels are those of one chain. Everything is added position by position from the
// left, so that neither windows nor threads change a digit.
class PosteriorSumming {
 public:
  // `precision`: the precision of the engine; `scored`: where the scores of the entropy are, or null;
  // `roles`: the roles of the chain's labels, or null. All must outlive this object.
  PosteriorSumming(const ChainModel& model, Precision precision, ScoreSource* scored, const EdgeRoles* roles,
                   int threads);

  // Counts for the engine to add to, window by window from the left.
  ExpectedCounts& counts() { return sums_.counts; }
  const EdgeRoles* roles() const { return roles_; }
  // Adds the next positions: labels, starts and ends, and the scores that they were computed from.
  void add(const PosteriorBlock& block, const ScoreWindow& scores);
  // The sums, after the last position; to be called once. In place of the entropy `log_partition` less the
  // expected score of what was added. They are over the chain's labels, but the entropies by label are over
  // those of its base.
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

// Those of a piece whose labels may have roles, everywhere or in windows of their own at its cut edges.
class SumsWithEdges {
 public:
  // `selection`, `loop` and the engine must outlive this object.
  SumsWithEdges(const Engine& engine, const PosteriorSelection& selection, const WindowLoop& loop);

  // Counts for the engine of window n to add to.
  ExpectedCounts& counts(std::int64_t n) { return part(n).counts(); }
  // Adds window n; windows come from left to right.
  void add(std::int64_t n, const PosteriorBlock& block, const ScoreWindow& scores);
  // The sums over the labels of the model, after the last window of a piece of this length; to be called
  // once.
  PosteriorSums finish(double log_partition, std::int64_t length);

 private:
  PosteriorSumming& part(std::int64_t n) { return *parts_[place(n)]; }
  std::size_t place(std::int64_t n) const;
  void add_part(PosteriorSumming& part, PosteriorSums& sums) const;
  void add_last_segments(const EdgeRoles& roles, PosteriorSums& sums) const;

  const PosteriorSelection& selection_;
  const WindowLoop& loop_;
  std::array<std::optional<PosteriorSumming>, 3>
      parts_;                         // the left edge's window, those between, the right's
  std::vector<double> first_labels_;  // P(label with role|0), where all labels have roles
  std::vector<double> into_last_;     // (C): P(a last segment of c began before the window at the right edge)
};

}  // namespace semicrf
