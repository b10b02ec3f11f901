// What `learn` fits a model to: tracks made features, and what is settled before the first iteration.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "inputs/arguments/lacking_tracks.h"
#include "learn/learn_options.h"
#include "model/parameters.h"
#include "train/data/training_inputs.h"
#include "train/emissions/emissions.h"

namespace semicrf {

struct LearnData {
  std::optional<Parameters> init;  // the model of --init, or that of a preset
  std::int64_t bin_size = 1;       // bases
  std::vector<Track> tracks;       // tracks of the features, but for densities of new models
  TrainingInputs inputs;           // features
  EmissionPlan emissions;          // with the sizes of --init
  std::vector<LackingTrack> lacking_tracks;
  // Policies of tracks that some sample lacks: kMarginal in `tracks` while fitting, this in the file.
  std::map<std::string, MissingPolicy> policies;
  std::vector<Label> known;  // labels of --labels-known, the first of the model
  std::vector<int> labels;   // numbers of labels, at least one

  MissingPolicy policy_of(const Track& track) const {
    const auto found = policies.find(track.source());
    return found == policies.end() ? track.missing : found->second;
  }
};

// Checks the options and reads --init, --labels-known and the tracks. UsageError: options that do not go
// together. InputError, ReadError: a file that cannot be read, is damaged, or holds a model that cannot be
// gone on from.
LearnData read_learn_data(const LearnOptions& options);

// Makes them of raw values that lie in memory, a column for each of `tracks`: the inputs of the model `init`,
// which has no bins without a value, or new tracks without a transform. No file is read.
LearnData learn_data_of(const LearnOptions& options, std::optional<Parameters> init, TrainingData raw,
                        std::vector<Track> tracks);

}  // namespace semicrf
