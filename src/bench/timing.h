// How long pieces of work take.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

namespace semicrf {

inline double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The larger of the two in the middle where their number is even; there is at least one.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// The median time of `repeats` runs, after one that is not counted.
inline double median_seconds(int repeats, const std::function<void()>& work) {
  work();
  std::vector<double> seconds;
  seconds.reserve(repeats);
  for (int i = 0; i < repeats; ++i) seconds.push_back(seconds_of(work));
  return median(std::move(seconds));
}

}  // namespace semicrf
