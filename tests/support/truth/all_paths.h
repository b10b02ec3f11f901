// Every segmentation of a tiny sequence with its probability.
#pragma once

#include <cmath>
#include <vector>

#include "core/segment.h"
#include "support/models/random_models.h"
#include "support/truth/rescore.h"

namespace semicrf::testing {

struct PathProbability {
  std::vector<Segment> path;
  double probability = 0;
};

inline void extend_paths(const ModelCase& sample, std::vector<Segment>& path,
                         std::vector<PathProbability>& all) {
  const std::int64_t begin = path.empty() ? 0 : path.back().end;
  if (begin == sample.length) {
    const double score = rescore(sample, path, InitialSources::kAll);
    if (score > kNegativeInfinity) all.push_back({path, score});
    return;
  }
  for (int label = 0; label < sample.model.num_labels; ++label)
    for (std::int64_t end = begin + 1; end <= sample.length; ++end) {
      path.push_back({begin, end, label});
      extend_paths(sample, path, all);
      path.pop_back();
    }
}

// About C (1+C)^(T-1) segmentations are tried; those with a finite score are given.
inline std::vector<PathProbability> all_paths(const ModelCase& sample) {
  std::vector<PathProbability> all;
  std::vector<Segment> path;
  extend_paths(sample, path, all);
  double top = kNegativeInfinity;
  for (const PathProbability& one : all) top = std::max(top, one.probability);
  double sum = 0;
  for (PathProbability& one : all) sum += one.probability = std::exp(one.probability - top);
  for (PathProbability& one : all) one.probability /= sum;
  return all;
}

}  // namespace semicrf::testing
