// Full passes with L-BFGS, a quasi-Newton optimiser (LBFGSpp).
//
// The library keeps its history of steps to itself, so a checkpoint cannot hold it. Therefore the fit runs in
// rounds of kRound iterations; every round starts with an empty history, checkpoint or not. A state at the
// end of a round is all there is to know: going on from it gives the same bytes as never having stopped. A
// fit that goes on from within a round has an empty history there: it ends as well, not with the same bytes.
#pragma once

#include "train/fit/fit_state.h"
#include "train/fit/training_problem.h"

namespace semicrf {

inline constexpr int kRound = 50;

// Goes on from `state` until it is finished. The state after iteration 0 has losses of size 1.
void fit_lbfgs(const TrainingProblem& problem, const StopRule& rule, const IterationSink& show,
               const CheckpointSink& save, FitState& state);

}  // namespace semicrf
