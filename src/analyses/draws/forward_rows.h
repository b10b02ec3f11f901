// The forward messages of one window, and of the positions before it that its segments reach back to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/engine.h"

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

// Memory is reused from window to window.
class ForwardRows {
 public:
  // `reach`: how many positions before a window can be asked for, 0 or K.
  ForwardRows(const ChainModel& model, std::int64_t reach);

  // Bytes per position of a window.
  static std::size_t bytes_per_position(const ChainModel& model);

  // Makes room for the positions of `range`, and returns the arrays for an engine to fill.
  ForwardArrays prepare(PositionRange range);
  // Completes the rows after the engine has written them. `before` is the edge of the window to the left;
  // null at the sequence's start, or when nothing before the window is asked for.
  void finish(const ForwardWindow& window, const ForwardEdge* before);
  // The messages that the window to the right needs; this window has at least `reach` positions.
  ForwardEdge edge() const;

  // Message of a start: everything before a segment of c that starts at t, and its start score.
  LogMessage start(std::int64_t t, int c) const {
    const auto row = static_cast<std::size_t>(t - range_.begin + reach_);
    return {start_levels_[row], starts_[row * labels_ + static_cast<std::size_t>(c)]};
  }
  // The message alpha of boundary b > range.begin.
  LogMessage alpha(std::int64_t b, int c) const { return at(ends_, b, c); }
  // Message of the tail: segments of c longer than K that are open at boundary b; b > range.begin, or b ==
  // range.begin with a reach.
  LogMessage tail(std::int64_t b, int c) const { return at(tails_, b, c); }

 private:
  LogMessage at(const std::vector<double>& rows, std::int64_t b, int c) const {
    const auto row = static_cast<std::size_t>(b - range_.begin);
    return {end_levels_[row], rows[row * labels_ + static_cast<std::size_t>(c)]};
  }

  std::size_t labels_;
  bool has_tail_;
  std::int64_t reach_;
  PositionRange range_;
  std::vector<double> starts_;        // (reach + n, C), from `reach` positions before the window
  std::vector<double> start_levels_;  // (reach + n)
  // Row i belongs to boundary begin + i.
  std::vector<double> ends_;        // (1 + n, C); row 0 is not used
  std::vector<double> tails_;       // (1 + n, C), or empty
  std::vector<double> end_levels_;  // (1 + n)
};

}  // namespace semicrf
