// Checkpoints of fits: their text, and the file, which a signal writes as well.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text/text.h"
#include "io/files/signal_cleanup.h"

namespace semicrf {

// The text of a checkpoint: a line that says what it is of, a line per field, numbers in hexadecimal so that
// none is rounded, and at the end the SHA-256 of all lines before.

class CheckpointWriter {
 public:
  // `kind`: the first line. `fingerprint`: of the data and options that the checkpoint belongs to.
  CheckpointWriter(std::string_view kind, const std::string& fingerprint);

  void put(const std::string& key, const std::string& value);
  void put(const std::string& key, std::int64_t value) { put(key, std::to_string(value)); }
  void put(const std::string& key, bool value) { put(key, std::string(value ? "1" : "0")); }
  void put(const std::string& key, double value);
  void put(const std::string& key, const std::optional<double>& value);
  void put(const std::string& key, const std::vector<double>& values);

  // The whole text.
  std::string finish() const;

 private:
  std::string text_;
};

// Reads the fields in the order they were written. InputError that names the file for what is not there, or
// not as it was written.
class CheckpointReader {
 public:
  // ReadError: cannot be read. InputError: no checkpoint of this kind, damaged (its SHA-256 does not match),
  // or of another fingerprint.
  CheckpointReader(const std::string& path, std::string_view kind, const std::string& fingerprint);

  std::string text(const std::string& key);
  // A whole number, 0 or more.
  template <class Number>
  Number integer(const std::string& key) {
    const auto number = number_in<Number>(text(key));
    if (!number || *number < 0) fail("the field " + key + " is not a number, or too large");
    return *number;
  }
  bool flag(const std::string& key) { return integer<int>(key) != 0; }
  std::optional<double> optional(const std::string& key);
  // Which numbers a list may have.
  enum class Numbers { kFinite, kScores };  // scores may be -inf
  std::vector<double> list(const std::string& key, Numbers numbers = Numbers::kFinite);

  [[noreturn]] void fail(const std::string& what) const;

 private:
  double number(const std::string& key, Numbers numbers, const char*& at, const char* end) const;

  std::string path_;
  std::istringstream lines_;
};

// Brings the states of a fit to disk: when it asks for it, and when a signal ends the program.
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
