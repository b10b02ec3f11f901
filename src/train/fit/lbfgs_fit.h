// Full passes with L-BFGS, a quasi-Newton optimiser (LBFGSpp).
//
// The library keeps its history of steps to itself, so a checkpoint cannot hold it. Therefore the fit runs in
// rounds of kRound iterations; every round starts with an empty history, checkpoint or not. A state at the
// end of a round is all there is to know: going on from it gives the same bytes as never having stopped. A
// fit that goes on from within a round has an empty history there: it ends as well, not with the same bytes.
#pragma once

#include <functional>
#include <span>

#include "train/fit/fit_state.h"
#include "train/fit/training_problem.h"

namespace semicrf {

inline constexpr int kRound = 50;

// Goes on from `state` until it is finished. The state after iteration 0 has losses of size 1.
void fit_lbfgs(const TrainingProblem& problem, const StopRule& rule, const IterationSink& show,
               const CheckpointSink& save, FitState& state);

// L-BFGS over plain numbers: what a fit asks of the library that has it, LBFGSpp.
struct MinimiseCalls {
  // The objective at x, and its gradient.
  std::function<double(std::span<const double> x, std::span<double> gradient)> evaluate;
  // After every iteration, at the x that it found, which was evaluated last; true ends the descent.
  std::function<bool(std::span<const double> x, double value, double gradient_norm)> iteration;
};

enum class MinimiseEnd {
  kAsked,   // by `iteration`
  kFlat,    // the gradient is zero
  kNoStep,  // nothing better was found along the last direction; `iteration` was not told of it
};

// Descends from `start` with an empty history. What the calls throw passes through.
MinimiseEnd minimise(std::span<const double> start, const MinimiseCalls& calls);

// Settings.
inline constexpr int kHistory = 40;         // pairs of steps and gradient changes
inline constexpr int kLineSearch = 20;      // evaluations in one line search
inline constexpr double kGradient = 1e-12;  // share of the norm of the coordinates: nothing left to gain

}  // namespace semicrf
