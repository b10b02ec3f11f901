// One fit of `learn`, from its start to the parameters that a file gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "engine/options.h"
#include "learn/copy_number.h"
#include "learn/em_fit.h"
#include "learn/learn_data.h"
#include "learn/learn_options.h"
#include "learn/learn_record.h"
#include "learn/learn_shapes.h"

namespace semicrf {

struct FitResult {
  EmState state;
  int free_parameters = 0;
  int part_iterations = 0;                    // that saw a part of the data, before those of `state`
  std::vector<CopyNumberSolution> solutions;  // the grid of --preset copy-number, where the fit began
};

// What is told of a fit on its way; may be empty.
struct FitWatcher {
  EmWatcher all;                                 // iterations over all data
  std::function<void(const EmIteration&)> part;  // iterations over a part of them
  std::function<void(int window)> started;       // the bins whose means were clustered
};

// Fits the model of `job` to the training data: from clusters, from the grid of a preset or, where there is a
// model to go on from, from that; or goes on from `state`, if it has begun. Where there are four times
// `options.part` bins or more, the start and as many iterations as it takes see a part of them first.
// `engine`: with the threads of this fit.
FitResult fit_job(const LearnOptions& options, const LearnData& data, const LearnJob& job,
                  const EngineOptions& engine, EmState state, const FitWatcher& watcher);

// What is recorded of a fit to so many positions.
LearnedFit learned_fit(const LearnJob& job, const EmState& state, int free_parameters,
                       std::int64_t positions);
// Which of two fits is taken: of as many labels the likelier, else by the held-out likelihood or the ICL.
bool is_better(const LearnedFit& a, const LearnedFit& b);

// Labels in the order of their share of the bins, largest first; the first `known` keep their places.
Parameters sorted_by_bins(const Parameters& parameters, const std::vector<double>& bins, std::int64_t known);

// Durations as a table, and tails as numbers, for a file.
void set_duration_spec(Parameters& parameters);

}  // namespace semicrf
