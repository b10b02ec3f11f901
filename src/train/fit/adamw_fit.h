// Steps over batches of windows with AdamW: for data that are too long for many full passes.
#pragma once

#include <cstdint>

#include "train/fit/fit_state.h"
#include "train/fit/training_problem.h"
#include "train/train_options.h"

namespace semicrf {

// Goes on from `state` until it is finished. The pieces of `problem` are the windows. An iteration is a pass
// over all of them in an order drawn from the seed and its number. The penalties are part of the objective;
// the decoupled decay of AdamW pulls towards `anchor`, the coordinates the fit began with.
void fit_adamw(const TrainingProblem& problem, const StopRule& rule, const AdamWOptions& options,
               const std::vector<double>& anchor, const IterationSink& show, const CheckpointSink& save,
               FitState& state);

// The learning rate after so many passes over the data, of the most there may be, and so many steps.
double learning_rate(const AdamWOptions& options, double passes, int max_passes, std::int64_t steps);

}  // namespace semicrf
