// What a run has to say besides its outputs: statistics, warnings, times.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "core/warning.h"
#include "io/json/stats_json.h"
#include "pipeline/analyses/posteriors/posterior_sweep.h"
#include "pipeline/analyses/draws/segment_sampler.h"
#include "pipeline/analyses/draws/segment_shares.h"
#include "pipeline/analyses/viterbi/viterbi_decoder.h"

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
    ~Stop() { watch.stop(); }
  } stop{watch};
  watch.start();
  return work();
}

// Adds up the results of the pieces of one sequence.
class SequenceReport {
 public:
  SequenceStats stats;

  void add(const ViterbiResult& result);
  void add(const PosteriorResult& result, std::int64_t positions);
  void add(const SegmentShares& shares);
  void add(const DrawResult& result);
  void add_infeasible(bool viterbi, bool posteriors);
  // Brings the entropies into `stats`.
  void finish();

 private:
  double boundary_mass_ = 0;
  double boundary_plogp_ = 0;
  double label_entropy_ = 0;
  std::int64_t positions_ = 0;
};

// Not thread-safe.
class RunReport {
 public:
  StopWatch read, write, total;  // the rest of the total is computing

  RunReport() { total.start(); }
  // Logs the warning and keeps it.
  void warn(const Warning& warning);
  std::vector<SequenceReport>& sequences() { return sequences_; }
  // The whole document; ends the clock.
  Stats finish(const std::string& version, const std::string& device);

 private:
  std::vector<SequenceReport> sequences_;
  std::vector<Warning> warnings_;
};

}  // namespace semicrf
