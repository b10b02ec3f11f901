// Distributions of tracks that a training run learns in the place of linear heads: those of --emission, or
// the densities of --init.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/parameters.h"
#include "train/data/training_inputs.h"
#include "train/emissions/emissions.h"
#include "train/fit/emission_space.h"
#include "train/train_options.h"

namespace semicrf {

// UsageError: options that do not go with distributions, or that only go with them. `init`: parameters of
// --init, or null.
void check_emission_options(const TrainOptions& options, const Parameters* init);

// Whether `parameters` are a model whose densities can be learned.
bool has_families(const Parameters& parameters);

// Bins of arrays without a value say nothing, unless another policy is asked for.
MissingPolicy missing_of_families(const TrainOptions& options);

// What --emission says of `tracks` with the raw values of `inputs`, which become the features of `tracks`.
// UsageError, InputError as density_rules() and fit_features().
EmissionPlan plan_emissions(const TrainOptions& options, std::vector<Track>& tracks, TrainingInputs& inputs);

// What --tie and --freeze say of the densities of --init, whose tied numbers become equal.
EmissionPlan plan_of_init(const TrainOptions& options, Parameters& init);

// Coordinates of the emissions of `first`, which hold the tracks of the features. `start`: sets them to those
// under which the labelled bins of `data` are most likely, whatever the others are.
std::unique_ptr<EmissionSpace> set_up_emissions(const TrainOptions& options, const EmissionPlan& plan,
                                                const TrainingData& data, const PathCounts& counts,
                                                bool start, Parameters& first);

}  // namespace semicrf
