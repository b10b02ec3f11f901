// Everything of a training run before the first iteration.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/params/training_record.h"
#include "train/data/training_inputs.h"
#include "train/fit/parameter_space.h"
#include "train/start/initial_parameters.h"
#include "train/train_options.h"

namespace semicrf {

struct TrainingSetup {
  TrainingInputs inputs;
  Parameters first;   // where the fit starts
  PathCounts counts;  // counts of the training data
  std::set<ParameterPart> frozen;
  std::shared_ptr<const EmissionSpace> emissions;  // null: linear heads
  std::string emission_text;                       // their families, or empty
  double margin = 0;                               // objective.h
  TrainingRecord record;                           // files, options and sizes
  std::string fingerprint;                         // digest of files and options, for checkpoints
};

// Reads labels and tracks, fits the transforms, and makes the first parameters: those of --init, or
// estimates. Checks that every true segmentation is possible under them.
TrainingSetup set_up_training(const TrainOptions& options);

}  // namespace semicrf
