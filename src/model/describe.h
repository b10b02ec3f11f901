// Human-readable summary of a parameter file, for `semicrf info`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/durations/duration.h"
#include "model/parameters.h"

namespace semicrf {

// What training recorded of the model that it made.
struct TrainingFacts {
  struct Label {
    // Durations of the training labels, and of the best segmentation of their data.
    std::optional<SeenDurations> training, decoded;
  };
  std::vector<Label> durations;  // (C)
  std::optional<double> scale;   // the factor of all scores after the fit, in (0, 1e6)
  bool edited = false;           // by semicrf edit, after it was trained
};

// Several lines, each ending in a newline: labels with their durations, K, bin size, centring, tails, tracks,
// heads, forbidden transitions.
std::string describe_parameters(const Parameters& parameters, const TrainingFacts& facts);

// The transition scores as a table with names: row = from, column = to, "-" where it is forbidden.
std::string describe_transitions(const Parameters& parameters);
// The weights and biases of the heads as tables with names; those of boundary heads have a column per track
// and offset, "H3K4me3[-1]".
std::string describe_weights(const Parameters& parameters);

// Six significant digits, as numbers are shown in descriptions.
std::string described_number(double value);

}  // namespace semicrf
