// Pieces on their way through an engine: what it is given of each, and what becomes of its answer. Linear
// heads are applied on the host, or by the engine.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/engine.h"
#include "model/linear_heads.h"
#include "train/objective/objective.h"

namespace semicrf {

class PieceBatch {
 public:
  virtual ~PieceBatch() = default;
  // Makes piece i ready for the engine, on several threads; several pieces may be made ready side by side.
  virtual void prepare(std::size_t i, int threads) = 0;
  // Of a piece that is ready. Valid as long as the batch lives.
  virtual const ScoreWindow& window(std::size_t i) const = 0;
  // What is wanted of it for the gradient, without counts.
  virtual PosteriorArrays wanted(std::size_t i) = 0;
  // Adds the derivatives of a shard, after the engine gave what was wanted: all but those by expected counts.
  virtual void add_gradient(std::size_t shard, int threads, ParameterGradient& gradient) = 0;
};

struct BatchSetup {
  const Parameters& parameters;
  const LinearHeads& heads;  // of them
  const ObjectiveOptions& options;
  Precision precision = Precision::kFloat;  // of scores
  bool with_gradient = false;
  std::vector<const TrainingPiece*> pieces;
  std::vector<std::size_t> shard_ends;  // shards are runs of pieces, with sums of their own

  std::size_t shard_begin(std::size_t shard) const { return shard == 0 ? 0 : shard_ends[shard - 1]; }
};

// Scores go to the engine, and posteriors of every position come back.
std::unique_ptr<PieceBatch> batch_with_host_heads(BatchSetup setup);
// Features go to the engine, which projects (Engine::projects), and sums over positions come back.
std::unique_ptr<PieceBatch> batch_with_device_heads(BatchSetup setup);

}  // namespace semicrf
