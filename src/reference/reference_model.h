// The chain as the reference engine reads it: the transition may depend on the duration of the segment that
// it leads to. No other engine takes such a chain: the sum over sources does not leave the sum over durations
// there (docs/paper.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/chain_model.h"

namespace semicrf {

struct ReferenceModel : ChainModel {
  // (K, C, C) [k-1][from][to], in place of `transition`; what is longer than K has row K. Empty:
  // `transition`.
  std::vector<double> transition_by_duration;

  explicit ReferenceModel(ChainModel model, std::vector<double> by_duration = {})
      : ChainModel(std::move(model)), transition_by_duration(std::move(by_duration)) {}

  bool by_duration() const { return !transition_by_duration.empty(); }
  double transition_into(std::int64_t duration, int from, int to) const {
    if (!by_duration()) return transition_at(from, to);
    return transition_by_duration[transition_index(duration, from, to)];
  }
  // The entry of `transition_by_duration`, or of `transition` where there is one for all durations.
  std::size_t transition_index(std::int64_t duration, int from, int to) const {
    const auto labels = static_cast<std::size_t>(num_labels);
    const std::int64_t row = by_duration() ? std::min<std::int64_t>(duration, max_duration) - 1 : 0;
    return (static_cast<std::size_t>(row) * labels + static_cast<std::size_t>(from)) * labels +
           static_cast<std::size_t>(to);
  }
};

}  // namespace semicrf
