// The passes that `semicrf bench` measures, over one sequence or several of one length.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/batch.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "windows/window_loop.h"

namespace semicrf {

// Sums over the sequences.
struct PathsRun {
  double score = 0;
  std::int64_t segments = 0;
  ChunkTotals totals;
};

struct ForwardRun {
  double log_partition = 0;
  ChunkTotals totals;
};

struct PosteriorRun {
  double log_partition = 0;  // sum over the sequences
  double max_normalization_error = 0;
  ChunkTotals totals;
  std::vector<double> boundary, labels;  // (positions), (positions, C)
};

// One sequence is computed by one engine with all threads. Several are given to the engine in one call where
// it wants that, else they are computed side by side by engines of one thread each, as runs do it.
class SequencePasses {
 public:
  // The sequences must outlive the passes.
  SequencePasses(EngineOptions options, const ChainModel& model, int threads,
                 std::span<const ScoreWindow> sequences);

  int threads() const { return threads_; }
  Engine& engine() const { return *engines_.front(); }
  ForwardRun forward() const;  // log Z alone
  PathsRun paths() const;
  // Boundary and label posteriors into the memory of `run`, and the expected counts unless `counts` is null;
  // starts and ends are computed on the way.
  void posteriors(PosteriorRun& run, ExpectedCounts* counts) const;

 private:
  bool in_one_call() const { return sequences_.size() > 1 && engine().batches().batch_positions() > 0; }
  std::vector<SequenceResult> log_partitions() const;
  std::vector<SequenceResult> results(std::span<const PosteriorArrays> out, ExpectedCounts* counts) const;

  int threads_;
  std::span<const ScoreWindow> sequences_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

}  // namespace semicrf
