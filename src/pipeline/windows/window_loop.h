// The windows of a sequence as every analysis goes over them: read with their halos, from left to right with
// the true state at the left edge of each, and from right to left.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "pipeline/windows/window_plan.h"
#include "pipeline/windows/window_reader.h"

namespace semicrf {

// Called with the number of positions that were just finished; a sequence counts its length once per pass.
using ProgressCallback = std::function<void(std::int64_t)>;

// Repairs in all windows of a sequence, see ChunkReport.
struct ChunkTotals {
  std::int64_t fallbacks = 0;
  std::int64_t repaired_chunks = 0;
  void add(const std::vector<ChunkReport>& chunks);
};

// True when no segmentation leads to this boundary.
bool is_impossible(const BoundaryState& state);

class WindowLoop {
 public:
  using Scores = WindowReader::Scores;
  // Which states at window edges are kept after they were used.
  enum class States { kAll, kLatest };

  WindowLoop(Engine& engine, ScoreSource& source, const WindowPlan& plan, Scores scores,
             const ProgressCallback& progress)
      : plan_(plan),
        progress_(progress),
        reader_(engine, source, plan, scores),
        states_(static_cast<std::size_t>(plan.count()) + 1) {}

  std::int64_t last() const { return plan_.count() - 1; }
  // Scores of window n with its halos, see WindowReader::read.
  ScoreWindow read(std::int64_t n) { return reader_.read(n); }
  // The true state at the left edge of window n; null for the first one.
  const BoundaryState* left(std::int64_t n) const {
    return n == 0 ? nullptr : &states_[static_cast<std::size_t>(n)];
  }

  // Calls visit(n, its scores), which returns the true state at the right edge of the window, from window 0
  // on. Ends early, with false, where no segmentation is possible.
  template <class Visit>
  bool left_to_right(States keep, Visit visit) {
    reader_.begin();
    for (std::int64_t n = 0; n <= last(); ++n) {
      const ScoreWindow scores = reader_.read(n);
      if (n < last()) reader_.read_ahead(n + 1);
      BoundaryState& right = states_[static_cast<std::size_t>(n) + 1];
      right = visit(n, scores);
      if (keep == States::kLatest) states_[static_cast<std::size_t>(n)] = {};
      if (is_impossible(right)) return false;
      if (progress_) progress_(plan_.range(n).size());
    }
    return true;
  }

  // Calls visit(n) from the last window on.
  template <class Visit>
  void right_to_left(Visit visit) {
    for (std::int64_t n = last(); n >= 0; --n) {
      visit(n);
      if (progress_) progress_(plan_.range(n).size());
    }
  }

 private:
  const WindowPlan& plan_;
  const ProgressCallback& progress_;
  WindowReader reader_;
  std::vector<BoundaryState> states_;  // at the left edge of window n; [0] is unused, the last is at the end
};

}  // namespace semicrf
