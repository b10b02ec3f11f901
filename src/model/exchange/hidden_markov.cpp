#include "model/exchange/hidden_markov.h"

#include <algorithm>
#include <cmath>

#include "model/durations/duration.h"

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

}  // namespace semicrf
