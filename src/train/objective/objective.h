// The negative log-likelihood of what is known of the segmentations, and its exact derivatives.
//
// Of a settled piece that is log Z less the score of its segments. Of a piece with evidence
// (LabelEvidence) it is log Z less log Z_allowed, the sum over the segmentations that agree with the
// evidence, each times the weights of its lines (docs/algorithm.md, section 13).
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

class Ranks;

// Label posteriors of all bins: of each piece (T, C), row-major.
using PosteriorRows = std::vector<std::vector<float>>;

struct ObjectiveOptions {
  // Taken from the score of the true label at every position, so that another segmentation must be less
  // likely by as much for every bin it gets wrong (the softmax-margin of Gimpel and Smith, NAACL 2010); 0:
  // likelihood. Bins that have not one known label have none.
  double margin = 0;
  // Which derivatives are wanted.
  bool emissions = true;  // derivatives by weights and bias, or by the numbers of densities
  bool boundary = true;
  // Whether an engine that can do so applies the linear heads. The value has the same bits either way;
  // derivatives by the heads' weights add up in another order.
  bool project = true;
  // Processes that share out the work, all of which must call at the same time with the same arguments; rank
  // 0 gets the result, with the same bits as from one process. Null: this process alone.
  Ranks* ranks = nullptr;
  PosteriorRows* posteriors = nullptr;  // log_evidence; of a run of one process
};

// Whether data hold the features of the input tracks alone, and scores are sums of the log densities that the
// parameters make of them (has_only_densities).
bool are_sums_of_densities(const TrainingData& data, const Parameters& parameters);

// Summed over `pieces` (indices into data), with the margin; log Z where nothing is known of a piece. With
// `gradient`, the derivatives are added to it. Pieces are computed side by side, each with its part of the
// threads; sums run in an order that does not depend on them. Throws InputError naming the place when a piece
// has no finite value.
double negative_log_likelihood(const TrainingData& data, std::span<const std::size_t> pieces,
                               const Parameters& parameters, const EngineOptions& engine,
                               const ObjectiveOptions& options, ParameterGradient* gradient);

// log Z_allowed, summed over all pieces; log Z of those of which nothing is known. With `gradient`, expected
// counts are added to it. Errors as above. Segments of settled pieces are not looked at. `posteriors`, of
// sums of densities: set with `gradient`, to which no derivatives by densities are added then.
double log_evidence(const TrainingData& data, const Parameters& parameters, const EngineOptions& engine,
                    ParameterGradient* gradient, PosteriorRows* posteriors = nullptr);

// The segments of the best segmentation of each piece, left to right; none where no segmentation is possible.
// `ranks` as in ObjectiveOptions.
std::vector<std::vector<Segment>> best_segmentations(const TrainingData& data, const Parameters& parameters,
                                                     const EngineOptions& engine, Ranks* ranks = nullptr);

// Bytes that an evaluation needs besides the data: at most, or as a rule (engine.h), for forecasts.
enum class NeedOf { kWorstCase, kUsual };
std::size_t objective_bytes(const TrainingData& data, const Parameters& parameters,
                            const EngineOptions& engine, NeedOf need = NeedOf::kWorstCase);

}  // namespace semicrf
