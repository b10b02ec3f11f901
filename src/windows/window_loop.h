// The windows of a sequence as every analysis goes over them: read with their halos, from left to right with
// the true state at the left edge of each, and from right to left.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/threads/parallel.h"
#include "engine/device_memory.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/edge_windows.h"
#include "windows/window_plan.h"

namespace semicrf {

// Reading the windows of a sequence for an engine that may have a device of its own.
//
// Scores that lie in memory, or features, are on their way to the device from the beginning
// (Engine::prefetch); they are checked where they arrived, and where that finds something, or nothing is
// known, the source checks them itself and says what is wrong, or replaces what is missing. Scores or
// features that are made when they are read can be read one window ahead of their use, in a thread of its
// own, while the device computes.
class WindowReader {
 public:
  // Whether engines that project get features in place of scores; not for forward(), whose windows are not
  // prefetched or read ahead either.
  enum class Scores { kAny, kNoFeatures };

  WindowReader(Engine& engine, ScoreSource& source, const WindowPlan& plan, Scores scores)
      : engine_(engine),
        source_(source),
        projected_(source),
        plan_(plan),
        for_forward_(scores == Scores::kNoFeatures),
        reads_ahead_(!for_forward_ && reads_ahead(engine, source)) {}

  // Whether two windows are kept.
  static bool reads_ahead(const Engine& engine, const ScoreSource& source) {
    return engine.own_memory() != nullptr && source.bytes_per_position() > 0;
  }

  // Once, before the first window.
  void begin() {
    if (engine_.own_memory() == nullptr || for_forward_) return;
    if (const std::optional<ScoreWindow> whole = source_.in_place())
      prefetch_ = engine_.own_memory()->prefetch(*whole);
  }
  // Window n with its halos, for viterbi() or posteriors() of the engine: features where heads make the
  // scores and the engine projects, else scores. Valid until the next but one is read, or the next, where
  // none is read ahead.
  ScoreWindow read(std::int64_t n) {
    if (ahead_.valid()) {
      const ScoreWindow scores = ahead_.get();
      if (ahead_of_ == n) return scores;
    }
    return read_now(n);
  }
  // Window n will be read next.
  void read_ahead(std::int64_t n) {
    if (!reads_ahead_ || prefetch_) return;  // what is prefetched lies there, and is asked for by one thread
    ahead_of_ = n;
    ahead_ = do_beside([this, n] { return read_now(n); });
  }

 private:
  ScoreWindow read_now(std::int64_t n) {
    const PositionRange range = plan_.read_range(n);
    if (prefetch_) {
      if (prefetch_->sound(range.end)) {
        source_.assume_checked(range.begin, range.end);
      } else {
        prefetch_.reset();  // the source says what is wrong, or replaces it
      }
    }
    if (reads_ahead_) turn_ = 1 - turn_;
    ScoreBuffers& buffers = buffers_[turn_];
    return engine_.projects() && !for_forward_ ? source_.read(range.begin, range.end, buffers)
                                               : projected_.read(range.begin, range.end, buffers);
  }

  Engine& engine_;
  ScoreSource& source_;
  HostProjection projected_;  // for engines that do not project, and for forward()
  const WindowPlan& plan_;
  const bool for_forward_;
  const bool reads_ahead_;
  std::unique_ptr<ScorePrefetch> prefetch_;
  std::array<ScoreBuffers, 2> buffers_;
  std::size_t turn_ = 0;
  std::int64_t ahead_of_ = 0;
  std::future<ScoreWindow> ahead_;  // last, as it uses the others
};

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
  // The roles of the labels of window n, a window at an edge; null: its labels are those of `source`.
  const EdgeRoles* roles(std::int64_t n) const;
  Engine& engine(std::int64_t n) const;
  // The window of its own at an edge; null: window n is between them.
  const EdgeWindow* edge(std::int64_t n) const;
  // Scores of window n with its halos, see WindowReader::read; in the labels of the window.
  ScoreWindow read(std::int64_t n);
  // Scores of a window at an edge with its halos, in the labels of the model.
  ScoreWindow read_plain(std::int64_t n);
  // The true state at the left edge of window n, in its labels; null for the first one. Valid until the next
  // call.
  const BoundaryState* left(std::int64_t n);
  // That state in the labels of the model. Window n > 0 was visited, and States::kAll were kept.
  const BoundaryState& state(std::int64_t n) const { return states_[static_cast<std::size_t>(n)]; }

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
      BoundaryState& right = states_[n + 1];
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
