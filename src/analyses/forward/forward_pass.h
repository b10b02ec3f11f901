// Forward messages of a piece, window by window, and of the positions before a window that its segments reach
// back to.
//
// Messages and scores have the labels of the model, whatever the columns of a window are: those of a piece
// that was cut stand for labels with roles. Of these the messages are folded: a segment may start at position
// 0 in one role alone, end at T in one role alone, and elsewhere those who ask do not tell whole segments
// from first ones, which differ in what their durations score (PieceDurations), not in what follows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/engine.h"
#include "model/scores/edge_roles.h"
#include "model/scores/score_source.h"
#include "windows/edge_windows.h"
#include "windows/window_loop.h"

namespace semicrf {

// A log message relative to a whole number: differences of two keep their digits along a sequence.
struct LogMessage {
  double level = 0;  // a whole number
  double value = 0;
};

// The messages of a window that are kept for the window right of it.
struct ForwardEdge {
  std::vector<double> starts;        // (reach, C): messages of the last positions
  std::vector<double> start_levels;  // (reach)
  std::vector<double> tails;         // (C): messages of the last position, or empty
  double end_level = 0;              // level of the last position
};

// Which forward messages are wanted.
struct ForwardWish {
  Semiring semiring = Semiring::kLog;
  bool ends = true, tails = true;  // besides starts; tails, where the model has any
  // Whether windows are visited once more from right to left, with the messages of K positions before each.
  bool traces_back = false;
};

// Memory is reused from window to window.
class ForwardRows {
 public:
  // `model`: of the labels; `reach`: how many positions before a window can be asked for, 0 or K.
  ForwardRows(const ChainModel& model, const ForwardWish& wish, std::int64_t reach);

  // Bytes per position of a window, of starts, ends and tails.
  static std::size_t bytes_per_position(const ChainModel& model);

  // Makes room for the positions of `range`, and returns the arrays for an engine to fill, whose labels have
  // `columns`.
  ForwardArrays prepare(PositionRange range, RoleColumns columns);
  // Completes the rows after the engine has written them, in a sequence of `length`. `before` is the edge of
  // the window to the left; null at the sequence's start, or when nothing before the window is asked for.
  void finish(const ForwardWindow& window, std::int64_t length, const ForwardEdge* before);
  // The messages that the window to the right needs.
  ForwardEdge edge() const;

  // Message of a start: everything before a segment of c that starts at t, and its start score.
  LogMessage start(std::int64_t t, int c) const {
    const std::size_t row = t - range_.begin + reach_;
    return {start_levels_[row], starts_[row * labels_ + c]};
  }
  // The message alpha of boundary b > range.begin.
  LogMessage alpha(std::int64_t b, int c) const { return at(ends_, b, c); }
  // Message of the tail: segments of c longer than K that are open at boundary b; b > range.begin, or b ==
  // range.begin with a reach. At a cut right edge it lacks what PieceDurations::out_of_tail() says.
  LogMessage tail(std::int64_t b, int c) const { return at(tails_, b, c); }

 private:
  LogMessage at(const std::vector<double>& rows, std::int64_t b, int c) const {
    const std::size_t row = b - range_.begin;
    return {end_levels_[row], rows[row * labels_ + c]};
  }
  std::size_t positions() const { return range_.size(); }
  void fold(std::int64_t length);

  std::size_t labels_;
  Semiring semiring_;
  bool has_ends_, has_tail_;
  std::int64_t reach_;
  PositionRange range_;
  RoleColumns columns_;
  std::vector<double> starts_;        // (reach + n, C), from `reach` positions before the window
  std::vector<double> start_levels_;  // (reach + n)
  // Row i belongs to boundary begin + i.
  std::vector<double> ends_;        // (1 + n, C), or empty; row 0 is not used
  std::vector<double> tails_;       // (1 + n, C), or empty
  std::vector<double> end_levels_;  // (1 + n)
  // (n, C * count) rows of labels with roles, before they are folded.
  std::vector<double> role_starts_, role_ends_, role_tails_;
};

// The pass over a piece. All arguments must outlive it.
class ForwardPass {
 public:
  ForwardPass(Engine& engine, ScoreSource& source, const WindowPlan& plan, const PieceChain& chain,
              const ForwardWish& wish, const ProgressCallback& progress);

  // Calls visit() with the messages of each window, from left to right. False where no segmentation is
  // possible.
  template <class Visit>
  bool left_to_right(ChunkTotals& totals, Visit visit) {
    const auto keep = wish_.traces_back ? WindowLoop::States::kAll : WindowLoop::States::kLatest;
    return loop_.left_to_right(keep, [&](std::int64_t n, const ScoreWindow& scores) {
      scores_ = scores;
      ForwardWindow window = compute(n);
      totals.add(window.chunks);
      if (wish_.traces_back && n < loop_.last()) edges_[n + 1] = rows_.edge();
      if (n == loop_.last()) at_end_ = window.right;
      visit();
      return std::move(window.right);
    });
  }
  // Calls visit() with the messages of each window, from right to left, after a pass that traces back.
  template <class Visit>
  void right_to_left(Visit visit) {
    loop_.right_to_left([&](std::int64_t n) {
      if (n != loop_.last()) {
        scores_ = loop_.read(n);
        compute(n);
      }
      visit();
    });
  }

  // The model whose labels messages and scores have.
  const ChainModel& model() const { return model_; }
  // Positions, messages and scores are those of the current window.
  PositionRange range() const { return plan_.range(window_); }
  const ForwardRows& rows() const { return rows_; }
  // Valid until the next window; K+1 positions before it have scores, too, where it traces back.
  LabelScores scores() const;

  // The state at T, in the columns of the last window.
  const BoundaryState& at_end() const { return at_end_; }
  // (C) messages alpha of T, relative to one number.
  std::vector<double> last_messages() const;

 private:
  ForwardWindow compute(std::int64_t n);
  RoleColumns columns(std::int64_t n) const;

  const ChainModel& model_;
  const WindowPlan& plan_;
  PieceChain chain_;
  ForwardWish wish_;
  WindowLoop loop_;
  ForwardRows rows_;
  std::int64_t window_ = 0;
  ScoreWindow scores_;              // scores of the current window
  std::vector<ForwardEdge> edges_;  // the messages before window n; [0] is unused
  BoundaryState at_end_;
};

}  // namespace semicrf
