#include "train/fit/only_label.h"

#include <cstddef>
#include <string>

#include "io/json/json_document.h"

namespace semicrf {

std::optional<Warning> only_label_warning(const std::vector<TrainingRecord::Durations>& durations) {
  std::size_t in_training = 0, predicted = 0;
  const TrainingRecord::Durations* only = nullptr;
  for (const TrainingRecord::Durations& label : durations) {
    if (label.training.segments > 0) ++in_training;
    if (label.decoded.segments == 0) continue;
    ++predicted;
    only = &label;
  }
  if (in_training < 2 || predicted != 1) return std::nullopt;
  return Warning{
      "one-label-predicted",
      "the model predicts the label " + in_quotes(only->label) +
          " for all of its training data, which have " + std::to_string(in_training) +
          " labels: the tracks do not tell them apart, or the fit was too short; check that labels "
          "and tracks belong together, add tracks, or raise --max-iterations"};
}

}  // namespace semicrf
