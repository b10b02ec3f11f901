// The negative log-likelihood of the true segmentations and its exact derivatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/engine.h"
#include "model/parameters.h"
#include "train/parameter_gradient.h"
#include "train/training_data.h"

namespace semicrf {

// Which derivatives are wanted.
struct GradientSelection {
  bool emissions = true;  // of weights and bias
  bool boundary = true;
};

// log Z - score, summed over `pieces` (indices into data). With `gradient`, the derivatives are added to it.
// Long pieces are computed one after the other with all threads, short ones side by side; sums run in an
// order that does not depend on the threads. Throws InputError naming the place when a piece has no finite
// value.
double negative_log_likelihood(const TrainingData& data, std::span<const std::size_t> pieces,
                               const Parameters& parameters, const EngineOptions& engine,
                               const GradientSelection& selection, ParameterGradient* gradient);

// Bytes that an evaluation needs besides the data.
std::size_t objective_bytes(const TrainingData& data, const Parameters& parameters,
                            const EngineOptions& engine);

}  // namespace semicrf
