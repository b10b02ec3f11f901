// Speed and accuracy of the engines on random workloads, for `semicrf bench`.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/workload.h"
#include "engine/options.h"
#include "runs/run_options.h"

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

// How far a whole run is from its input and output alone, for `semicrf bench --io-only`.
struct IoBenchOptions {
  DecodeOptions decode;  // inputs: NPY arrays of aligned float32 or float64
  int repeats = 3;       // the median counts
};

// Calls `print` with two JSON objects: the inputs brought to the engine's device (or read, where it computes
// in the host's memory), and the whole run, from opening the inputs to the finished BED. The inputs are in
// the page cache then.
void run_io_bench(const IoBenchOptions& options, const std::function<void(const std::string&)>& print);

}  // namespace semicrf
