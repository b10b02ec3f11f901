// Two models: brought to the same labels and tracks, and what differs between them.
#pragma once

#include <string>
#include <vector>

#include "model/parameters.h"

namespace semicrf {

// Two models brought to the same labels and tracks, so that one segmentation has a score under both.
struct AlignedModels {
  Parameters first, second;
  // By the number of a label: whether the second model, as it was given, has it.
  std::vector<bool> second_has;
};

// Both get the labels of `first` in their order, then those that `second` alone has; so with the tracks. A
// label that a model lacks is one that none of its segmentations has; a track that it lacks has the weight 0.
// Where the first model has tails, its table of durations goes on along them as far as that of the second,
// which changes no score. Neither distribution changes.
// (Where inputs are label scores, position-max centring also sees those of labels that a model lacks: log Z
// moves with what is subtracted, and with it all scores.)
AlignedModels align_models(const Parameters& first, const Parameters& second);

// The distribution of `model` with a longest duration of K, at least that of the model: longer ones that it
// allows, by its tails, become rows of the table.
ChainModel with_durations(const ChainModel& model, int max_duration);

// A line per property or table that differs: how many of its numbers do, and the one that does most, by name.
// Labels and tracks are matched by name, so that their order does not count beside the line that says that it
// differs. "no differences\n" when nothing does.
std::string compare_parameters(const Parameters& first, const Parameters& second);

}  // namespace semicrf
