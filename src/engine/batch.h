// Several whole sequences at once, for engines that compute them faster together than one by one.
//
// Every window covers its sequence. The digits and segments are those of Engine::forward(), viterbi() and its
// messages, and posteriors(), one sequence after the other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace semicrf {

// A whole sequence after forward() or posteriors().
struct SequenceResult {
  double log_partition = 0;  // log Z; -inf: no path exists
  std::vector<ChunkReport> chunks;
};

// The best path of a whole sequence.
struct SequencePath {
  bool feasible = false;          // false: no path exists
  std::vector<Segment> reversed;  // right to left
  std::vector<ChunkReport> chunks;
};

class SequenceBatches {
 public:
  virtual ~SequenceBatches() = default;
  // Positions that a call should have in all for good speed; a function of the model. 0: several sequences
  // are computed no faster together than one by one.
  virtual std::int64_t batch_positions() const = 0;
  virtual std::vector<SequenceResult> log_partitions(std::span<const ScoreWindow> sequences) = 0;
  virtual std::vector<SequencePath> viterbi_of(std::span<const ScoreWindow> sequences) = 0;
  // `out`: what is wanted of each sequence. The counts of all sequences are added to `counts` in the order of
  // the sequences; where it is null, those of each to its own PosteriorArrays::counts, which all have or
  // none.
  virtual std::vector<SequenceResult> posteriors_of(std::span<const ScoreWindow> sequences,
                                                    std::span<const PosteriorArrays> out,
                                                    ExpectedCounts* counts) = 0;
};

// The operations of SequenceBatches by the window operations of any engine, one sequence after the other.
class OneByOne final : public SequenceBatches {
 public:
  explicit OneByOne(Engine& engine) : engine_(engine) {}
  std::int64_t batch_positions() const override { return 0; }
  std::vector<SequenceResult> log_partitions(std::span<const ScoreWindow> sequences) override;
  std::vector<SequencePath> viterbi_of(std::span<const ScoreWindow> sequences) override;
  std::vector<SequenceResult> posteriors_of(std::span<const ScoreWindow> sequences,
                                            std::span<const PosteriorArrays> out,
                                            ExpectedCounts* counts) override;

 private:
  Engine& engine_;
};

}  // namespace semicrf
