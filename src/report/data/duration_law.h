// Lengths of segments in classes, beside what the model's durations alone would give.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/data/basis.h"

namespace semicrf {

inline constexpr int kDurationClasses = 26;

struct DurationCounts {
  std::vector<long long> edges;                     // class i: edges[i] <= bins < edges[i+1]
  bool grows = false;                               // classes get wider
  std::vector<std::vector<std::int64_t>> segments;  // by label and class
  // By label and class: the sum of exp(score) over the lengths of the class, divided by that over all
  // lengths; empty where the model has no such law (see `note`).
  std::vector<std::vector<double>> law;
  std::string note;  // what to know of the law, or empty

  std::size_t classes() const { return edges.size() - 1; }
  double share(std::size_t label, std::size_t i) const;  // share of the label's segments; 0 where it has none
};

// Lengths are counted in bins, those of the segments of the file rounded up. A model of single bins (K = 1)
// whose segments were joined has the law of its transitions: geometric.
DurationCounts count_durations(const ReportBasis& basis);

}  // namespace semicrf
