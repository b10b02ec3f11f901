// Brings the states of a fit to disk: every so many iterations, at the end, and when a signal ends the
// program.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "io/files/signal_watch.h"
#include "train/fit/fit_state.h"

namespace semicrf {

class CheckpointKeeper {
 public:
  // Of `path`, empty: nothing is written. `first`: where the fit begins. `say` gets a line when a signal has
  // made a checkpoint, or why it could not; it is called by another thread.
  CheckpointKeeper(const std::string& path, const std::string& fingerprint, int every, const FitState& first,
                   std::function<void(const std::string&)> say);

  // What the fits call: CheckpointSink.
  void reached(const FitState& state);

 private:
  void write_before_end();

  std::string path_, fingerprint_;
  int every_;  // iterations
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;  // of what follows, and of the file
  FitState latest_;
  std::unique_ptr<SignalWatch> watch_;  // last: its thread uses the others
};

}  // namespace semicrf
