// Adds up the sums of a sequence from the posteriors of its positions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analyses/posteriors/expected_score.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "core/error.h"
#include "core/sum_in_blocks.h"
#include "engine/options.h"
#include "model/scores/score_source.h"

namespace semicrf {

// Sums over the positions of windows whose labels are those of one chain.
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
  void add_positions(std::span<const double> sums);

  std::size_t labels_, base_labels_;
  const EdgeRoles* roles_;
  int threads_;
  ExpectedScore score_;              // expected score, by the scores of the sequence
  std::optional<CrossScore> cross_;  // used in place of score_ where the scores lie elsewhere
  PosteriorSums sums_;
  SumInBlocks<std::vector<double>> in_blocks_;  // label_bins, label_segments and label_entropies
};

// Sums over a piece whose labels may have roles, everywhere or in windows of their own at its cut edges.
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

// The entropy of the segmentation, in double precision where single precision is not accurate enough.
//
// An entropy or cross-entropy stands, where its uncertainty (ExpectedScore::uncertainty, nats) is at most
// this share of it, or where neither is worth mentioning.
inline constexpr double kCertainShare = 5e-4;
bool is_certain(double entropy, double uncertainty);

// The warning about `pieces` of a run whose `what`, a field of the statistics, does not stand: they are
// uncertain by `uncertainty` nats together.
Warning uncertain_entropy_warning(const std::string& what, std::int64_t pieces, double uncertainty);

// Windows for sums in double precision within `budget` bytes or, where none fits, the least multiple by a
// power of two: whether an entropy is computed again must not depend on the memory that threads have left.
WindowPlan plan_at_least(const Engine& engine, const ScoreSource& source, const PosteriorSelection& selection,
                         std::size_t budget, EdgeLengths edges = {});

// The options of an engine that computes a piece of so many positions again, in double precision and with
// `threads` threads. Short pieces are computed on the processor, since opening a device takes longer.
EngineOptions options_in_double(EngineOptions options, int threads, std::int64_t positions);

// Sweeps once more in double precision where the entropy of `result.sums`, which an engine of `options` has
// computed, does not stand, and takes the new entropy and its uncertainty. All else stays as it is.
// `selection` and `source`: those of the sweep; `budget`: bytes for its windows, see plan_at_least(). A piece
// with windows at its edges that is too short for those of the other engine keeps what it has.
void make_entropy_certain(const EngineOptions& options, const ChainModel& model, ScoreSource& source,
                          const PosteriorSelection& selection, std::size_t budget, PosteriorResult& result);

}  // namespace semicrf
