// What is computed for one piece, and how it fits into memory.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "pipeline/posterior_sweep.h"
#include "pipeline/viterbi_decoder.h"
#include "pipeline/window_plan.h"

namespace semicrf {

struct Analysis {
  bool viterbi = false;     // the best path
  bool posteriors = false;  // boundary posteriors; with a path, also those along it
  bool label_posteriors = false;
  bool path_edges = false;  // with a path and posteriors: also its start and end posteriors

  // How often progress counts every position.
  int passes() const { return (viterbi ? 2 : 0) + (posteriors ? 1 : 0); }
};

struct PiecePlan {
  std::optional<WindowPlan> viterbi, posteriors;

  std::size_t bytes() const;  // peak
  bool whole() const;         // one window
};

// Bytes of windows that are long enough not to waste work.
std::size_t comfortable_bytes(const Engine& engine, const ScoreSource& source, const Analysis& analysis);

// Bytes of the piece in one window.
std::size_t whole_bytes(const Engine& engine, const ScoreSource& source, const Analysis& analysis);

// Throws MemoryError when the piece cannot be cut small enough for `budget` bytes.
PiecePlan plan_piece(const Engine& engine, const ScoreSource& source, const Analysis& analysis,
                     std::size_t budget);

struct PieceResult {
  std::optional<ViterbiResult> viterbi;
  std::optional<PosteriorResult> posteriors;

  bool feasible() const { return (!viterbi || viterbi->feasible) && (!posteriors || posteriors->feasible); }
};

// Gets the posteriors of a feasible piece, left to right, with the piece's path (null: none was asked for).
using BlockSink = std::function<void(const ViterbiResult*, const PosteriorBlock&)>;

// Stops after an infeasible Viterbi pass.
PieceResult analyse_piece(Engine& engine, ScoreSource& source, const Analysis& analysis,
                          const PiecePlan& plan, const BlockSink& sink, const ProgressCallback& progress);

}  // namespace semicrf
