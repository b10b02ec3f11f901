#include "model/exchange/hidden_markov.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/text/text.h"
#include "model/durations/duration.h"
#include "model/durations/duration_kinds.h"

namespace semicrf {

void set_hidden_markov_chain(std::span<const double> transition, Parameters& parameters) {
  constexpr double kMostStaying = 1 - 1e-12;
  const std::size_t states = parameters.labels.size();
  ChainModel& chain = parameters.chain;
  chain.num_labels = static_cast<int>(states);
  chain.max_duration = 1;
  chain.duration_bias.assign(states, 0.0);
  chain.end_scores.assign(states, 0.0);
  parameters.duration = DurationSpec{};
  for (std::size_t from = 0; from < states; ++from)
    for (std::size_t to = 0; to < states; ++to) {
      const double p = transition[from * states + to];
      if (from == to) parameters.duration.tail.push_back(std::min(p, kMostStaying));
      chain.transition.push_back(from != to && p > 0 ? std::log(p) : kNegativeInfinity);
    }
  // A model whose states never stay has no tail at all.
  if (std::ranges::all_of(parameters.duration.tail, [](double q) { return q == 0; }))
    parameters.duration.tail.clear();
  chain.log_tail = tail_scores(parameters.duration);
}

namespace {

double log_of_share(double p) { return p > 0 ? std::log(p) : kNegativeInfinity; }

}  // namespace

void set_explicit_durations(Parameters& parameters, std::span<const double> transition,
                            const std::vector<std::vector<std::int64_t>>& seen, int max_duration,
                            std::vector<Warning>& warnings) {
  const std::size_t states = parameters.labels.size();
  ChainModel& chain = parameters.chain;
  std::vector<std::string> unseen, last;
  chain.max_duration = max_duration;
  chain.duration_bias.assign(max_duration * states, 0.0);
  parameters.duration = {};
  for (std::size_t c = 0; c < states; ++c) {
    if (seen[c].empty()) unseen.push_back(parameters.labels[c].name);
    const FittedDurations fitted = seen[c].empty()
                                       ? staying_durations(transition[c * states + c], max_duration)
                                       : fit_durations(seen[c], max_duration);
    for (std::size_t k = 0; k < fitted.log_probability.size(); ++k)
      chain.duration_bias[k * states + c] = fitted.log_probability[k];
    parameters.duration.tail.push_back(fitted.tail);
    if (states == 1) break;
    double others = 0;
    for (std::size_t to = 0; to < states; ++to)
      if (to != c) others += transition[c * states + to];
    if (!(others > 0)) last.push_back(parameters.labels[c].name);
    for (std::size_t to = 0; to < states; ++to)
      chain.transition[c * states + to] =
          to == c || !(others > 0) ? kNegativeInfinity : log_of_share(transition[c * states + to] / others);
  }
  chain.log_tail = tail_scores(parameters.duration);
  if (!unseen.empty())
    warnings.push_back(
        {"labels-without-segments", "the segmentation has no segments of " + joined(unseen, ", ") +
                                        "; their durations are those of the model's own transitions"});
  if (!last.empty())
    warnings.push_back({"labels-without-successor", "nothing follows " + joined(last, ", ") +
                                                        ": in the model these states are never left"});
}

}  // namespace semicrf
