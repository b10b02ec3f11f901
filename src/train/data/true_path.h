// The true segmentation of a piece under a model: its score, and what it counts.
#pragma once

#include <string>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "train/data/training_data.h"
#include "train/objective/parameter_gradient.h"

namespace semicrf {

// The score of the segments of a piece that is settled, in double with compensation; -inf when something in
// it is forbidden. `window` covers the piece, with scores or with features. With the uniform initial term the
// first segment gets the log sum over the transitions into its label, as in log Z. The same bits for any
// `threads`.
double true_score(const ChainModel& model, const ScoreWindow& window, const TrainingPiece& piece,
                  int threads);
// The score of the true segments of a piece that was cut. `has_roles`: the window's labels are those of the
// chain of roles; else they are those of the model.
double true_score(const EdgeRoles& roles, const ScoreWindow& window, bool has_roles,
                  const TrainingPiece& piece, int threads);

// Adds `weight` times the derivatives of the score by transitions, durations, tails, start and end scores.
void add_true_counts(const ChainModel& model, const TrainingPiece& piece, double weight,
                     ParameterGradient& gradient);

// Adds `weight` times what the segments of a piece that was cut count in its chain: transitions, durations
// and tails.
void add_true_counts(const EdgeRoles& roles, const TrainingPiece& piece, double weight,
                     ExpectedCounts& counts);

// What is forbidden in the piece, for an error: "the transition from "a" to "b" is forbidden, but ...", with
// the place and line; empty when every known segment has a finite score.
struct PathProblem {
  std::string where;  // chrom:beg-end
  std::string what;
  std::int64_t line = 0;
};
PathProblem find_problem(const Parameters& parameters, const TrainingPiece& piece);

}  // namespace semicrf
