// Where the training starts: estimates that need no iterations.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/error.h"
#include "model/parameters.h"
#include "train/data/label_file.h"
#include "train/data/training_data.h"
#include "train/train_options.h"

namespace semicrf {

// The shape of the durations, settled from the options and the training segments before anything else.
struct DurationShape {
  const DurationKind* kind = &table_durations();
  int max_duration = 1;
  bool tail = false;              // every label has one
  std::optional<int> background;  // a label that has a tail in any case
};

// The 99.5th percentile of `durations`, of which there is one at least.
std::int64_t long_duration(std::vector<std::int64_t> durations);

// K is --max-duration, else the 99.5th percentile of the training durations of all labels but the background,
// or `least_longest` if that is more, with a tail. InputError naming a segment of the training or validation
// data that is too long for a K without a tail, and the K needed. With K = 1 and no tail every bin is a
// segment of its own (a linear chain), and nothing is too long.
DurationShape settle_durations(const ShapeOptions& options, const TrainingData& training,
                               const TrainingData& validation, std::optional<int> background = {},
                               int least_longest = 1);

// The shortest duration of each label, (C), in bins, as --min-duration has them. UsageError: no number of
// bins, or no label.
std::vector<int> shortest_durations(const std::vector<std::string>& texts, const std::vector<Label>& labels);
// Forbids what is shorter. UsageError: durations are no table, or none would be left.
void set_shortest_durations(const std::vector<int>& shortest, Parameters& parameters);

// Transitions from counts, durations from the durations seen, emissions by linear discriminants, boundary
// weights 0, unless there are no heads. Data hold features. Initial term: none. InputError naming a label
// without a training segment.
Parameters initial_parameters(std::optional<Centering> centering, const DurationShape& shape,
                              const LabelFile& labels, const std::vector<Track>& tracks,
                              std::int64_t bin_size, const TrainingData& training,
                              const TrainingData& validation, bool with_heads = true);

// Emission weights and biases of Gaussians with one covariance: w_c = S^-1 mean_c, b_c = -mean_c w_c / 2.
EmissionHead discriminant_emissions(const TrainingData& data);

// Durations of `shape` for the durations seen of each label.
void set_initial_durations(const DurationShape& shape, const PathCounts& counts, Parameters& parameters);

}  // namespace semicrf
