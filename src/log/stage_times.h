// Where the time of a run goes, for the log and the statistics.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace semicrf {

// Seconds spent between start() and stop(), added up.
class StopWatch {
 public:
  void start() { started_ = std::chrono::steady_clock::now(); }
  void stop() {
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - started_).count();
  }
  double seconds() const { return seconds_; }

 private:
  std::chrono::steady_clock::time_point started_;
  double seconds_ = 0;
};

// Runs `work` on the clock of `watch`.
template <class Work>
decltype(auto) timed(StopWatch& watch, Work&& work) {
  struct Stop {
    StopWatch& watch;
    explicit Stop(StopWatch& running) : watch(running) {}
    ~Stop() { watch.stop(); }
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;
  } stop{watch};
  watch.start();
  return work();
}

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

// How a run tells how far it is.
//
// Called from one thread at a time.
class Progress {
 public:
  virtual ~Progress() = default;
  // `total` positions will be worked on, each once per pass.
  virtual void begin(std::int64_t total) = 0;
  virtual void advance(std::int64_t positions) = 0;
  virtual void end() = 0;
};

}  // namespace semicrf
