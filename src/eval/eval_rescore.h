// What a model says about given segmentations: their scores and likelihoods, and how sure it is itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/segment.h"
#include "engine/options.h"
#include "eval/eval_input.h"
#include "eval/metrics/eval_report.h"
#include "io/params/params_json.h"
#include "log/progress.h"
#include "model/scores/score_source.h"
#include "runs/run_options.h"

namespace semicrf {

// `path` tiles the source. Absent when the score is -inf.
std::optional<PathScores> score_path(const ChainModel& model, ScoreSource& source,
                                     const std::vector<Segment>& path);

struct RescoreRequest {
  InputOptions input;
  EngineOptions engine;
  std::optional<std::int64_t> max_memory;  // bytes
};

// Scores both segmentations on the pieces that decode makes of the inputs, on these chromosomes, cut to the
// bins that the truth labels (bin_segments). Labels with a number below that of the parameters' labels are
// theirs, the others are unknown to the model. `progress` may be null. InputError: no chromosome in common, a
// piece for which the model has no segmentation at all.
RescoreResult rescore(const RescoreRequest& request, const ParameterFile& parameters,
                      const std::vector<std::string>& label_names,
                      const std::vector<std::string>& chromosomes, const Segmentation& truth,
                      const Segmentation& predicted, Progress* progress);

}  // namespace semicrf
