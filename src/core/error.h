// Errors that reach the user: one class per exit code group, one line per message.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "core/text/utf8.h"

namespace semicrf {

// Exit codes of the program (docs/users/formats.md). Pipelines key their retries on them.
enum class ExitCode : int {
  kOk = 0,
  kUsage = 2,        // the command line is wrong
  kBadInput = 3,     // data or parameters are wrong
  kCannotRead = 4,   // an input cannot be opened or read
  kCannotWrite = 5,  // an output cannot be written
  kOutOfMemory = 6,  // host or device memory
  kNoDevice = 7,     // a demanded device cannot run
  kInternal = 70,    // a bug of ours
};

// What went wrong, for the user to act on.
struct ErrorText {
  std::string file;    // the file concerned, or empty
  std::string where;   // byte offset, chrom:position or JSON pointer, or empty
  std::string what;    // what was found (and expected)
  std::string advice;  // what to do about it, or empty
};

// An error the user can fix. what() is "FILE[:where]: what; advice" on one line of less than 2000 bytes,
// whatever names and values of the data it quotes: each part is a message_text().
class Error : public std::runtime_error {
 public:
  Error(ExitCode code, const ErrorText& text);
  ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

struct UsageError : Error {
  explicit UsageError(const std::string& what, const std::string& advice = "see --help")
      : Error(ExitCode::kUsage, {"", "", what, advice}) {}
};
struct InputError : Error {
  explicit InputError(const ErrorText& text) : Error(ExitCode::kBadInput, text) {}
  InputError(const std::string& file, std::int64_t line, const std::string& what, const std::string& advice)
      : InputError({file, "line " + std::to_string(line), what, advice}) {}
};
struct ReadError : Error {
  explicit ReadError(const ErrorText& text) : Error(ExitCode::kCannotRead, text) {}
};
struct WriteError : Error {
  explicit WriteError(const ErrorText& text) : Error(ExitCode::kCannotWrite, text) {}
};
struct MemoryError : Error {
  explicit MemoryError(const ErrorText& text) : Error(ExitCode::kOutOfMemory, text) {}
};
struct DeviceError : Error {
  explicit DeviceError(const ErrorText& text) : Error(ExitCode::kNoDevice, text) {}
};

// Something the user should know that does not stop the run.
struct Warning {
  std::string code;     // short and stable, for scripts: "masked-mean", "durations-at-cap", ...
  std::string message;  // one sentence for people
  std::string place{};  // the sequence, piece or file that it is about, where there can be many of them
};

}  // namespace semicrf
