// Where the time of a run goes, for the log.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace semicrf {

// Seconds of stages that follow each other. One line of the log at debug level (-v) when it is destroyed.
class StageTimes {
 public:
  explicit StageTimes(std::string what) : what_(std::move(what)) {}
  ~StageTimes();
  StageTimes(const StageTimes&) = delete;
  StageTimes& operator=(const StageTimes&) = delete;

  // Counts what passed since the last call, or since the beginning, for a stage; stages may come again.
  void end(const char* stage);

 private:
  std::string what_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::vector<std::pair<std::string, double>> seconds_;  // in the order of their first end
};

}  // namespace semicrf
