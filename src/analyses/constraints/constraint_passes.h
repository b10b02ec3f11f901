// The passes over a piece that constraints need in addition to those of its analyses: for their probability,
// and to find the first constraint that contradicts those before it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "analyses/constraints/constrained_source.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

// Constraints of one piece, sorted by where they begin.
using Constraints = std::span<const Constraint>;

bool require_boundaries(Constraints constraints);

// The probability and the penalty of constraints that can be met.
struct ConstraintFindings {
  double log_probability = 0;  // natural logarithm, at most 0
  double penalty = 0;          // penalty under which segmentations that lack a boundary count for nothing

  // Whether a probability, found under a penalty, may be that of segmentations that lack a required boundary.
  // `log` is its natural logarithm.
  bool may_lack_boundary(double log, double with_penalty) const;
};

// The largest penalty that is tried.
inline constexpr double kLargestPenalty = 0x1p33;

class ConstraintPasses {
 public:
  // `source`: the scores without constraints. `plan`: made with log_needs() of a ConstrainedSource. All must
  // outlive it. `threads`: for what the host does.
  ConstraintPasses(Engine& engine, ScoreSource& source, const WindowPlan& plan, int threads)
      : engine_(engine), source_(source), plan_(plan), threads_(threads) {}

  // The probability and the penalty of the constraints; nothing where no segmentation with a finite score
  // meets them. Takes two passes as a rule, whose positions `progress` counts.
  std::optional<ConstraintFindings> find(Constraints constraints, const ProgressCallback& progress = {});
  // The index of the first constraint that cannot be met together with those before it, given that all of
  // them together cannot be met; nothing where no segmentation is possible even without constraints. Takes
  // many passes: it is for errors.
  std::optional<std::size_t> first_impossible(Constraints constraints);

 private:
  double log_partition(Constraints constraints, double penalty, const ProgressCallback& progress);
  double unconstrained(const ProgressCallback& progress);

  Engine& engine_;
  ScoreSource& source_;
  const WindowPlan& plan_;
  int threads_;
  std::optional<double> unconstrained_;  // log Z
};

}  // namespace semicrf
