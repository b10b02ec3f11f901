// Rows of features that occur again and again, as those of 0/1 tracks do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace semicrf {

struct TrainingData;

struct FeaturePatterns {
  std::vector<float> rows;  // (patterns, F)
  std::int64_t count = 0;
};

inline constexpr std::int64_t kMostPatterns = 1024;

// Gives every piece the number of the pattern of each of its bins, in the order in which patterns come first,
// where there are at most kMostPatterns and the data are much longer; else takes such numbers away. For
// features that no longer change.
void find_patterns(TrainingData& data);

}  // namespace semicrf
