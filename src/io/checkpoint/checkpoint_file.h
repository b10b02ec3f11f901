// Brings the states of a fit to disk: when it asks for it, and when a signal ends the program.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/error.h"
#include "io/files/signal_watch.h"

namespace semicrf {

// A state as it is kept until it is written or replaced.
struct CheckpointState {
  std::function<std::string()> text;  // the text of the checkpoint; called by any thread
  std::string name;                   // "the state after iteration 12"
};

// What a fit is asked to do with checkpoints.
struct CheckpointOptions {
  std::string file;                // written while fitting, or empty
  std::optional<int> every;        // iterations
  std::string resume;              // read before the fit, or empty
  bool resume_must_exist = false;  // else the fit starts anew where the file is not there
};

// UsageError where a checkpoint must exist and none is named.
void check_resume(const CheckpointOptions& options);

// Whether a fit goes on from a checkpoint. One that is not there is passed over, and `say` gets a line that
// `work` ("learning") starts anew, unless it must exist: reading it is then the error.
bool is_resumed(const CheckpointOptions& options, const std::string& work,
                const std::function<void(const std::string&)>& say);

class CheckpointFile {
 public:
  // The checkpoint at `path`; where that is empty, nothing is written. `first`: where the fit begins. `say`
  // gets a line when a signal has made a checkpoint, or why one could not be made; it is called by any
  // thread.
  CheckpointFile(std::string path, CheckpointState first, std::function<void(const std::string&)> say);

  // Takes the state; with `write`, the file has it afterwards: whole, under its own name. A file that cannot
  // be written stays as it was and does not end the fit: `say` gets a line. May be called by several threads.
  void reached(CheckpointState state, bool write);

  // Why the last state that was to be written is not in the file; nothing where it is. For the end, when the
  // results of the fit are written.
  std::optional<WriteError> failure();

 private:
  void fail(const WriteError& error);
  void write_before_end();

  std::string path_;
  std::function<void(const std::string&)> say_;
  std::mutex mutex_;  // guards what follows, and the file
  CheckpointState latest_;
  std::optional<WriteError> failure_;
  std::unique_ptr<SignalWatch> watch_;  // last: its thread uses the others
};

}  // namespace semicrf
