// The command `learn` from options to a finished parameter file.
#pragma once

#include <functional>
#include <string>

#include "core/error.h"
#include "learn/learn_options.h"

namespace semicrf {

// What a run says while it works; empty functions are not called.
struct LearnLog {
  std::function<void(const std::string&)> info;
  std::function<void(const Warning&)> warn;
  std::function<void(const std::string&)> iteration;
};

// Reads, fits every number of labels as often as asked for, writes the best model: of one number of labels
// the likeliest, of several numbers the one with the best likelihood of validation regions less the entropy
// of their segmentations, or without such regions the smallest ICL. Throws the errors of core/error.h.
void run_learn(const LearnOptions& options, const LearnLog& log);

// What --dry-run prints: the data, the models and the memory.
std::string plan_learn(const LearnOptions& options);

}  // namespace semicrf
