// Rows of a ScoreWindow in the order one direction of the recursion visits them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/score_window.h"
#include "engine/cut_edges.h"
#include "engine/engine.h"

namespace semicrf::cpu {

// Positions per block; block edges are multiples of this in sequence coordinates.
inline constexpr int kBlock = static_cast<int>(kBlockPositions);

// Run coordinates r: forward r = t; backward r = R - t with R = T rounded up to whole blocks, so that the
// blocks of both directions cover the same positions. Run position r (between boundaries r and r+1) is token
// r, or token R - 1 - r.
class ScoreView {
 public:
  ScoreView(const ScoreWindow& window, Direction direction)
      : window_(&window), direction_(direction), rounded_((window.length + kBlock - 1) / kBlock * kBlock) {}

  std::int64_t first() const { return direction_ == Direction::kForward ? 0 : rounded_ - window_->length; }
  std::int64_t last() const { return direction_ == Direction::kForward ? window_->length : rounded_; }
  std::int64_t boundary_of(std::int64_t run_boundary) const {
    return direction_ == Direction::kForward ? run_boundary : rounded_ - run_boundary;
  }
  std::int64_t run_boundary_of(std::int64_t boundary) const { return boundary_of(boundary); }
  std::int64_t token_of(std::int64_t run_position) const {
    return direction_ == Direction::kForward ? run_position : rounded_ - 1 - run_position;
  }

  const ScoreWindow& window() const { return *window_; }
  bool has_boundary_scores() const { return !window_->start_scores.empty() || !window_->end_scores.empty(); }
  // Scores that a segment gets for starting (ending) at a position, in the direction of the run.
  const ScoreArray& first_array() const {
    return direction_ == Direction::kForward ? window_->start_scores : window_->end_scores;
  }
  const ScoreArray& last_array() const {
    return direction_ == Direction::kForward ? window_->end_scores : window_->start_scores;
  }
  // Index of a run position's row times C.
  std::size_t row(std::int64_t run_position, int num_labels) const {
    return static_cast<std::size_t>(token_of(run_position) - window_->begin) *
           static_cast<std::size_t>(num_labels);
  }

 private:
  const ScoreWindow* window_;
  Direction direction_;
  std::int64_t rounded_;
};

}  // namespace semicrf::cpu
