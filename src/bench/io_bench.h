// How far a whole run is from its input and output alone, for `semicrf bench --io-only`.
#pragma once

#include <functional>
#include <string>

#include "runs/run_options.h"

namespace semicrf {

struct IoBenchOptions {
  DecodeOptions decode;  // inputs: NPY arrays of aligned float32 or float64
  int repeats = 3;       // the median counts
};

// Calls `print` with two JSON objects: the inputs brought to the engine's device (or read, where it computes
// in the host's memory), and the whole run, from opening the inputs to the finished BED. The inputs are in
// the page cache then.
void run_io_bench(const IoBenchOptions& options, const std::function<void(const std::string&)>& print);

}  // namespace semicrf
