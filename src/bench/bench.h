// Speed and accuracy of the engines on random workloads, for `semicrf bench`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/workload.h"
#include "engine/options.h"

namespace semicrf {

struct BenchOptions {
  std::vector<BenchWorkload> workloads;
  EngineOptions engine;  // each workload runs with one thread and with engine.threads
  int repeats = 3;       // the median counts
  std::uint64_t seed = 1;
  bool forward = true;
  bool viterbi = true;
  bool posterior = true;
  bool gradient = true;
  bool check = false;  // compare with the reference engine, which takes long
};

// Calls `print` with one JSON object (a line without its end) per workload, operation and thread count.
void run_bench(const BenchOptions& options, const std::function<void(const std::string&)>& print);

}  // namespace semicrf
