// The command `train` from options to a finished parameter file.
#pragma once

#include <functional>
#include <string>

#include "core/error.h"
#include "train/fit/fit_state.h"
#include "train/train_options.h"

namespace semicrf {

// What a run says while it works; empty functions are not called.
struct TrainLog {
  std::function<void(const std::string&)> info;
  std::function<void(const Warning&)> warn;
  IterationSink iteration;
};

class Ranks;

// Reads, fits, writes. Throws the errors of core/error.h. On a rank but 0: computes what rank 0 asks for
// until the program ends there.
void run_train(const TrainOptions& options, const TrainLog& log, Ranks& ranks);

// What --dry-run prints: the data, the shape of the model and the memory. Checks what a run would check
// before the first iteration.
std::string plan_train(const TrainOptions& options);

}  // namespace semicrf
