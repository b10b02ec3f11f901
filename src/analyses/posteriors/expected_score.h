// The expectation of a model's score under the posteriors of the same or another model, from which entropies,
// cross-entropies and divergences are made (docs/algorithm.md, "Entropies").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analyses/posteriors/posterior_sweep.h"
#include "core/chain_model.h"
#include "core/compensated_sum.h"
#include "core/score_window.h"
#include "core/sum_in_blocks.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"

namespace semicrf {

// Something that Q forbids and that has a positive probability under P.
struct ForbiddenPart {
  enum class Kind {
    kEmission,    // the label at the position
    kStart,       // a segment of the label that starts at the position
    kEnd,         // a segment of the label whose last bin is the position
    kTransition,  // from one label to the other at the position, where the second one starts
    kInitial,     // the label as the first of the sequence: no transition leads to it
    kDuration,    // a segment of the label of that many positions, somewhere
    kTail,        // a segment of the label of more positions than that, somewhere
  };
  Kind kind = Kind::kEmission;
  std::int64_t position = 0;  // position in the sequence; 0 where it is not known
  int label = 0;
  int from = 0;               // label before the transition
  std::int64_t duration = 0;  // duration in positions, of kDuration and kTail
};

// The error of the posteriors of an engine of this precision: at most `absolute` for labels, whose posteriors
// are sums of starts less ends; at most `relative` times their own size for starts, ends and counts. A label
// posterior below `residue` may be nothing but rounding, and counts as 0.
struct PosteriorRounding {
  double absolute = 0, relative = 0, residue = 0;
  static PosteriorRounding of(Precision precision);
};

// E_P[score_Q]: the mean of the score that model Q gives to a segmentation of one sequence, over all of them
// with the probabilities of model P. Natural logarithms; -inf where Q forbids what P allows. Terms that P
// forbids are 0, whatever their score under Q.
//
// First the score of its most probable label is subtracted from all scores of a position, which changes all
// segmentations alike. Then a posterior near 1, whose rounding would be multiplied with the score, is
// multiplied with 0, and the products that are left are those of improbable labels.
class ExpectedScore {
 public:
  // P gives the posteriors and the counts, Q the score; both have the same labels and outlive this object.
  // std::logic_error where P has tails and Q more durations (Q's K above P's): P's counts do not distinguish
  // these durations; give P a table of Q's length first. `precision`: of the engine that computed the
  // posteriors; `threads`: for the positions.
  ExpectedScore(const ChainModel& counted, const ChainModel& scored, Precision precision, int threads = 1);

  // The positions of a block, from position 0 on without gaps (or from a later one: then without what only
  // position 0 has), with the posteriors of labels, starts and
  // ends. Both windows cover the block: the scores of P and those of Q.
  void add(const PosteriorBlock& block, const ScoreWindow& counted, const ScoreWindow& scored);

  // After the last position: log_partition - E_P[score_Q], rounded once. That is the entropy of P where P is
  // Q, else the cross-entropy of P and Q. `log_partition`: log Z of Q, finite; `counts`: expected counts of
  // P, over the whole sequence.
  double minus_expectation(double log_partition, const ExpectedCounts& counts) const;
  // After the last position: an estimate of how far the rounding of posteriors and counts may have moved
  // minus_expectation(), in nats, not negative. The sizes of all products' errors are added up, as if none
  // cancelled; what the label posteriors below the residue would have added is judged by those that lie less
  // than 16 times above it.
  double uncertainty(const ExpectedCounts& counts) const;
  // After the last position: why E_P[score_Q] is -inf, by the leftmost position where there is one; nothing
  // where it is finite.
  std::optional<ForbiddenPart> first_forbidden(const ExpectedCounts& counts) const;

 private:
  struct Pair {
    int from = 0, to = 0;
  };
  friend class ScoredStretch;
  // The terms of a position: the score of its most probable label, the expectation of all scores after that
  // one is subtracted, and how uncertain the expectation is.
  struct PositionScore {
    double subtracted = 0, rest = 0, uncertain = 0;
  };
  struct PositionSums {
    CompensatedSum subtracted, rest;
    double uncertain = 0;  // see uncertainty()

    void add(const PositionScore& position) {
      subtracted.add(position.subtracted);
      rest.add(position.rest);
      uncertain += position.uncertain;
    }
    void add(const PositionSums& others) {
      subtracted.add(others.subtracted);
      rest.add(others.rest);
      uncertain += others.uncertain;
    }
  };
  PositionSums positions() const;  // all positions so far
  void find_pairs(const PosteriorBlock& block);
  void note(const ForbiddenPart& part);
  void find_forbidden(const PosteriorBlock& block, std::int64_t position, const ScoreWindow& counted,
                      const ScoreWindow& scored);
  void add_initial(CompensatedSum& sum) const;
  void add_transitions(const ExpectedCounts& counts, CompensatedSum& sum) const;
  void add_durations(const ExpectedCounts& counts, CompensatedSum& sum) const;
  double duration_term(const ExpectedCounts& counts, int duration, int label) const;
  double tail_term(const ExpectedCounts& counts, int label) const;

  const ChainModel& counted_;
  const ChainModel& scored_;
  PosteriorRounding rounding_;
  int threads_;
  std::size_t labels_;
  PositionSums whole_blocks_;
  SumInBlocks<PositionSums> in_blocks_{{}};
  std::vector<double> first_;      // (C): P(a segment of c starts at position 0), 0: it was not added
  std::vector<double> last_ends_;  // (C): P(a segment of c ends at the latest position)
  std::vector<Pair> forbidden_;    // transitions that Q forbids and P allows, not seen so far
  bool forbidden_seen_ = false;    // one of them has a positive probability
  std::optional<ForbiddenPart> first_part_;  // the leftmost part that has a position
};

// The expectation of scores that another source gives, computed along with a sweep for posteriors.
//
// Adds up the score of Q from the posteriors of P. The scores of Q are read a slab at a time.
class CrossScore : public PosteriorObserver {
 public:
  // All must outlive it. `precision`: the precision of the engine that computes the posteriors; `slab_bytes`:
  // about so much memory is for scores of Q.
  CrossScore(const ChainModel& counted, const ChainModel& scored, ScoreSource& source, Precision precision,
             int threads, std::size_t slab_bytes);

  // The memory that it takes.
  static std::size_t bytes(const ScoreSource& source, std::size_t slab_bytes);

  void restart() override { score_.emplace(counted_, scored_, precision_, threads_); }
  void add(const PosteriorBlock& block, const ScoreWindow& scores) override;

  const ExpectedScore& score() const { return *score_; }

 private:
  const ChainModel& counted_;
  const ChainModel& scored_;
  HostProjection reader_;
  ScoreBuffers buffers_;
  Precision precision_;
  int threads_;
  std::int64_t slab_;  // positions
  std::optional<ExpectedScore> score_;
};

}  // namespace semicrf
