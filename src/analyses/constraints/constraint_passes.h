// The passes over a piece that constraints need besides those of its analysis: their probability, and which
// of them makes the others impossible.
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

// What is known of constraints that can be met.
struct ConstraintFindings {
  double log_probability = 0;  // natural logarithm, at most 0
  double penalty = 0;  // for ConstrainedSource: those that lack a boundary do not count beside the others

  // Whether the probability of something, under a penalty, may be that of segmentations that lack a required
  // boundary. Natural logarithm.
  bool may_lack_boundary(double log, double with_penalty) const;
};

// The largest penalty that is tried.
inline constexpr double kLargestPenalty = 0x1p33;

class ConstraintPasses {
 public:
  // `source`: the scores without constraints. `plan`: by log_needs() of a ConstrainedSource. All must outlive
  // it. `threads`: for what the host does.
  ConstraintPasses(Engine& engine, ScoreSource& source, const WindowPlan& plan, int threads)
      : engine_(engine), source_(source), plan_(plan), threads_(threads) {}

  // Nothing where no segmentation with a finite score meets them. Two passes as a rule, of which `progress`
  // counts the positions.
  std::optional<ConstraintFindings> find(Constraints constraints, const ProgressCallback& progress = {});
  // The first with which those before it are impossible; nothing where no segmentation is possible even
  // without constraints. Given that all of them together are impossible. For errors: many passes.
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
