// The expectation of scores that another source gives, computed along with a sweep for posteriors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "analyses/posteriors/expected_score.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "model/scores/score_source.h"

namespace semicrf {

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
