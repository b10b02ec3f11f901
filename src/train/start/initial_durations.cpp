// First durations: distributions with the moments of what was seen. A table starts as a negative binomial,
// which is smooth.
#include <algorithm>

#include "train/start/initial_parameters.h"

namespace semicrf {
namespace {

// q of the tail: mean excess over K of the segments seen there, and of one more that exceeds K by half the
// mean duration.
double tail_ratio(const std::vector<std::int64_t>& durations, int max_duration) {
  double excess = std::max(1.0, mean_duration(durations) / 2);
  double count = 1;
  for (const std::int64_t d : durations) {
    if (d <= max_duration) continue;
    excess += static_cast<double>(d - max_duration);
    count += 1;
  }
  return clamped_probability(excess / (excess + count));
}

}  // namespace

void set_initial_durations(const DurationShape& shape, const PathCounts& counts, Parameters& parameters) {
  const std::size_t labels = parameters.labels.size();
  ChainModel& chain = parameters.chain;
  DurationSpec& spec = parameters.duration;
  chain.max_duration = shape.max_duration;
  const bool is_table = shape.kind->is_table();
  spec.kind = is_table ? find_duration_kind("negative_binomial") : shape.kind;
  for (std::size_t c = 0; c < labels; ++c) {
    const std::vector<std::int64_t>& durations = counts.durations[c];
    spec.values.push_back(spec.kind->estimate(durations));
    if (!shape.tail && static_cast<int>(c) != shape.background) {
      if (shape.background) spec.tail.push_back(0);
      continue;
    }
    const auto continued = spec.kind->continued_tail(spec.values[c]);
    spec.tail.push_back(continued ? continued->q : tail_ratio(durations, shape.max_duration));
  }
  chain.duration_bias = duration_table(spec, shape.max_duration, chain.num_labels);
  if (is_table) {
    spec.kind = shape.kind;
    spec.values.clear();
    // A linear chain has nothing to say about durations.
    if (shape.max_duration == 1 && !shape.tail) chain.duration_bias.assign(labels, 0.0);
  }
  chain.log_tail = tail_scores(spec);
}

}  // namespace semicrf
