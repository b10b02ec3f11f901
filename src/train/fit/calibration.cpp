#include "train/fit/calibration.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <string>

#include "core/golden_section.h"
#include "io/json/json_document.h"

namespace semicrf {

bool is_scalable(const Parameters& parameters) { return parameters.duration.kind->is_table(); }

Parameters scaled(Parameters parameters, double factor) {
  const auto scale = [factor](std::vector<double>& scores) {
    for (double& score : scores) score *= factor;
  };
  ChainModel& chain = parameters.chain;
  for (std::vector<double>* scores :
       {&chain.transition, &chain.duration_bias, &chain.start_scores, &chain.end_scores})
    scale(*scores);
  for (double& q : parameters.duration.tail) q = std::pow(q, factor);
  chain.log_tail = tail_scores(parameters.duration);
  if (parameters.emission) {
    scale(parameters.emission->weights);
    scale(parameters.emission->bias);
  }
  if (parameters.boundary) {
    BoundaryHead& head = *parameters.boundary;
    for (std::vector<double>* scores :
         {&head.start_weights, &head.start_bias, &head.end_weights, &head.end_bias})
      scale(*scores);
  }
  return parameters;
}

double likeliest_factor(const Parameters& parameters,
                        const std::function<double(const Parameters&)>& mean_nll) {
  const auto at = [&](double log_factor) { return mean_nll(scaled(parameters, std::exp(log_factor))); };
  const double most = std::log(8.0);
  return std::exp(golden_section(-most, most, 5e-3, at, std::less_equal<>()));
}

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
  return Warning{"one-label-predicted",
                 fmt::format("the model predicts the label {} for all of its training data, which have {} "
                             "labels: the tracks do not tell them apart, or the fit was too short; check "
                             "that labels and tracks belong together, add tracks, or raise --max-iterations",
                             in_quotes(only->label), in_training)};
}

}  // namespace semicrf
