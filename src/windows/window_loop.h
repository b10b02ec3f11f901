// The windows of a sequence as every analysis goes over them: read with their halos, from left to right with
// the true state at the left edge of each, and from right to left.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/edge_windows.h"
#include "windows/window_plan.h"
#include "windows/window_reader.h"

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

// Where the edges of the sequence have windows of their own, each of these has its own engine and scores.
// States and traces pass between windows in the labels of the model.
class WindowLoop {
 public:
  using Scores = WindowReader::Scores;
  // Which states at window edges are kept after they were used.
  enum class States { kAll, kLatest };

  // `edges`: null, or with those windows of their own that `plan` has; `semiring`: of the states.
  WindowLoop(Engine& engine, ScoreSource& source, const WindowPlan& plan, Scores scores,
             const ProgressCallback& progress, const EdgeWindows* edges = nullptr,
             Semiring semiring = Semiring::kLog);

  std::int64_t last() const { return plan_.count() - 1; }
  // The first and the last one of the windows between those at the edges.
  std::int64_t first_inner() const { return plan_.edges.left > 0 ? 1 : 0; }
  std::int64_t last_inner() const { return first_inner() + plan_.inner_count() - 1; }
  // The roles of the labels of window n; null: its labels are those of the model.
  const EdgeRoles* roles(std::int64_t n) const;
  Engine& engine(std::int64_t n) const;
  // Scores of window n with its halos, see WindowReader::read; in the labels of the window.
  ScoreWindow read(std::int64_t n);
  // Scores of a window at an edge with its halos, in the labels of the model.
  ScoreWindow read_plain(std::int64_t n);
  // The true state at the left edge of window n, in its labels; null for the first one. Valid until the next
  // call.
  const BoundaryState* left(std::int64_t n);

  // A state in the labels of the model in those of window n, and the other way round: at the window's left
  // edge forward, at its right edge backward; out of a window at its other edge.
  BoundaryState into(std::int64_t n, BoundaryState state) const;
  BoundaryState out_of(std::int64_t n, BoundaryState state, Direction direction) const;

  // Calls visit(n, its scores), which returns the true state at the right edge of the window, from window 0
  // on. Ends early, with false, where no segmentation is possible.
  template <class Visit>
  bool left_to_right(States keep, Visit visit) {
    reader_.begin();
    for (std::int64_t n = 0; n <= last(); ++n) {
      const ScoreWindow scores = read(n);
      if (n < last_inner()) reader_.read_ahead(n + 1);
      BoundaryState& right = states_[static_cast<std::size_t>(n) + 1];
      right = n < last() ? out_of(n, visit(n, scores), Direction::kForward) : visit(n, scores);
      if (keep == States::kLatest) states_[n] = {};
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
  struct EdgeReaders {
    EdgeReaders(const EdgeWindow& edge, const WindowPlan& plan, Scores kind)
        : scores(*edge.engine, *edge.scores, plan, kind), plain(*edge.engine, *edge.plain, plan, kind) {}
    WindowReader scores, plain;
  };
  // Null: window n is between them.
  const EdgeWindow* edge(std::int64_t n) const;
  EdgeReaders& edge_readers(std::int64_t n) { return n == 0 ? *first_ : *last_; }

  const WindowPlan& plan_;
  const ProgressCallback& progress_;
  const EdgeWindows* edges_;
  Semiring semiring_;
  Engine& engine_;
  WindowReader reader_;
  std::optional<EdgeReaders> first_, last_;
  BoundaryState left_;                 // that was converted last
  std::vector<BoundaryState> states_;  // at the left edge of window n; [0] is unused, the last is at the end
};

}  // namespace semicrf
