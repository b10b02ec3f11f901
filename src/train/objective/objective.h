// The negative log-likelihood of the true segmentations and its exact derivatives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/options.h"
#include "model/parameters.h"
#include "train/data/training_data.h"
#include "train/objective/parameter_gradient.h"

namespace semicrf {

struct ObjectiveOptions {
  // Taken from the score of the true label at every position, so that another segmentation must be less
  // likely by as much for every bin it gets wrong (the softmax margin of Gimpel and Smith, NAACL 2010); 0:
  // likelihood.
  double margin = 0;
  // Which derivatives are wanted.
  bool emissions = true;  // of weights and bias
  bool boundary = true;
  // Whether an engine that can do so applies the linear heads. The value has the same bits either way;
  // derivatives by the heads' weights add up in another order.
  bool project = true;
};

// log Z - score with the margin, or log Z where a piece has no segments, summed over `pieces` (indices into
// data). With `gradient`, the derivatives are added to it: of a piece without segments, the expected counts.
// Pieces are computed side by side, each with its part of the threads; sums run in an order that does not
// depend on them. Throws InputError naming the place when a piece has no finite value.
double negative_log_likelihood(const TrainingData& data, std::span<const std::size_t> pieces,
                               const Parameters& parameters, const EngineOptions& engine,
                               const ObjectiveOptions& options, ParameterGradient* gradient);

// The segments of the best segmentation of each piece, left to right; none where no segmentation is possible.
std::vector<std::vector<Segment>> best_segmentations(const TrainingData& data, const Parameters& parameters,
                                                     const EngineOptions& engine);

// Bytes that an evaluation needs besides the data: at most, or as a rule (engine.h), for forecasts.
enum class NeedOf { kWorstCase, kUsual };
std::size_t objective_bytes(const TrainingData& data, const Parameters& parameters,
                            const EngineOptions& engine, NeedOf need = NeedOf::kWorstCase);

}  // namespace semicrf
