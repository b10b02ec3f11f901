// The states of all fits of a run on disk, to go on from after a stop.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "io/checkpoint/checkpoint.h"
#include "learn/em_fit.h"

namespace semicrf {

// `states`: of every fit; one that has not begun has no log likelihoods. `fingerprint` tells the data and
// options they belong to.
std::string learn_checkpoint_text(const std::string& fingerprint, const std::vector<EmState>& states);

// `shapes`: a model of the shape of each fit, whose numbers the file replaces. ReadError: cannot be read.
// InputError: no checkpoint of `learn`, damaged, or of other data, options or shapes.
std::vector<EmState> read_learn_checkpoint(const std::string& path, const std::string& fingerprint,
                                           const std::vector<Parameters>& shapes);

// Keeps the states while fits run side by side, and writes them.
class LearnCheckpoint {
 public:
  // The checkpoint at `path`; where that is empty, nothing is written. It is written every so many iterations
  // of a fit, at its end, and when a signal ends the program. `say`: see CheckpointFile.
  LearnCheckpoint(std::string path, std::string fingerprint, int every, std::vector<EmState> states,
                  std::function<void(const std::string&)> say);

  // Fit `index` has got to `state`. Called by its thread.
  void reached(std::size_t index, const EmState& state);
  std::optional<WriteError> failure() { return file_.failure(); }

 private:
  CheckpointState kept();

  std::string path_, fingerprint_;
  int every_;
  std::mutex mutex_;  // guards the states
  std::vector<EmState> states_;
  CheckpointFile file_;
};

}  // namespace semicrf
