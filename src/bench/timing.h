// How long pieces of work take.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/text/text.h"

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

// One JSON object on a line, written key by key. Keys and texts are our own and need no escapes.
class JsonLine {
 public:
  JsonLine& add(const char* key, const std::string& text) { return raw(key, "\"" + text + "\""); }
  JsonLine& add(const char* key, std::int64_t value) { return raw(key, std::to_string(value)); }
  JsonLine& add(const char* key, double value) {
    return raw(key, std::isfinite(value) ? formatted("%.6g", value) : "null");
  }
  std::string text() const { return "{" + body_ + "}"; }

 private:
  JsonLine& raw(const char* key, const std::string& value) {
    body_ += (body_.empty() ? "\"" : ", \"") + std::string(key) + "\": " + value;
    return *this;
  }
  std::string body_;
};

}  // namespace semicrf
