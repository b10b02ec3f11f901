// The entropy of a model's segmentations, and how far another model is from it, on the same inputs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/options.h"
#include "eval/metrics/eval_report.h"
#include "log/stage_times.h"
#include "runs/run_options.h"

namespace semicrf {

struct ComparisonRequest {
  InputOptions input;   // with the parameters of P
  std::string against;  // the parameters of Q
  EngineOptions engine;
  std::optional<std::int64_t> max_memory;  // bytes
};

// On the pieces that decode makes of the inputs; bins that either model leaves out are left out for both.
// Labels and tracks are matched by name: columns of arrays are those of P. `progress` may be null.
// InputError: other bins or other kinds of inputs, no piece, a piece for which P has no segmentation.
ModelComparison compare_models(const ComparisonRequest& request, Progress* progress);

}  // namespace semicrf
