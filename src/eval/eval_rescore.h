// What a model says about given segmentations: their scores and likelihoods, and how sure it is itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/segment.h"
#include "engine/engine.h"
#include "engine/options.h"
#include "eval/eval_input.h"
#include "eval/metrics/eval_report.h"
#include "io/params/params_json.h"
#include "log/stage_times.h"
#include "model/scores/edge_roles.h"
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

// Keeps the engine of pieces that were not cut, and that of the latest cut.
class PieceEngine {
 public:
  PieceEngine(const EngineOptions& options, const ChainModel& model)
      : options_(options), whole_(make_engine(options, model)) {}

  Engine& whole() const { return *whole_; }
  // For a piece whose edges are cut like this.
  Engine& take_up(CutEdges cut) {
    is_cut_ = cut.any();
    if (!is_cut_) return *whole_;
    if (!roles_ || !(roles_->cut() == cut)) {
      roles_ = std::make_unique<EdgeRoles>(whole_->model(), cut);
      cut_ = make_engine(options_, roles_->chain());
    }
    return *cut_;
  }
  // The roles of the piece that was taken up last; null: it was not cut.
  const EdgeRoles* roles() const { return is_cut_ ? roles_.get() : nullptr; }

 private:
  EngineOptions options_;
  std::unique_ptr<Engine> whole_;
  bool is_cut_ = false;
  std::unique_ptr<EdgeRoles> roles_;
  std::unique_ptr<Engine> cut_;
};

}  // namespace semicrf
