#include "train/fit/checkpoint_keeper.h"

#include <exception>
#include <utility>

#include "train/fit/checkpoint.h"

namespace semicrf {

CheckpointKeeper::CheckpointKeeper(const std::string& path, const std::string& fingerprint, int every,
                                   const FitState& first, std::function<void(const std::string&)> say)
    : path_(path), fingerprint_(fingerprint), every_(every), say_(std::move(say)), latest_(first) {
  if (!path_.empty()) watch_ = std::make_unique<SignalWatch>([this] { write_before_end(); });
}

void CheckpointKeeper::reached(const FitState& state) {
  if (path_.empty()) return;
  const std::lock_guard lock(mutex_);
  latest_ = state;
  if (state.finished || state.iteration % every_ == 0) write_checkpoint(path_, fingerprint_, state);
}

void CheckpointKeeper::write_before_end() {
  const std::lock_guard lock(mutex_);
  try {
    write_checkpoint(path_, fingerprint_, latest_);
    say_("stopped by a signal; " + path_ + " has the state after iteration " +
         std::to_string(latest_.iteration));
  } catch (const std::exception& error) {
    say_(std::string("stopped by a signal; no checkpoint: ") + error.what());
  }
}

}  // namespace semicrf
