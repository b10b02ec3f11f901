#include "io/checkpoint/checkpoint_file.h"

#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/error.h"
#include "io/files/output_file.h"

namespace semicrf {

void check_resume(const CheckpointOptions& options) {
  if (options.resume_must_exist && options.resume.empty())
    throw UsageError("--resume-must-exist needs --resume", "add --resume FILE");
}

bool is_resumed(const CheckpointOptions& options, const std::string& work,
                const std::function<void(const std::string&)>& say) {
  if (options.resume.empty()) return false;
  std::error_code ignored;  // reading tells why a file cannot be looked at
  const bool missing =
      std::filesystem::status(options.resume, ignored).type() == std::filesystem::file_type::not_found;
  if (options.resume_must_exist || !missing) return true;
  say("no checkpoint " + options.resume + " yet: " + work + " starts anew");
  return false;
}

CheckpointFile::CheckpointFile(std::string path, CheckpointState first,
                               std::function<void(const std::string&)> say)
    : path_(std::move(path)), say_(std::move(say)), latest_(std::move(first)) {
  if (!path_.empty()) watch_ = std::make_unique<SignalWatch>([this] { write_before_end(); });
}

void CheckpointFile::reached(CheckpointState state, bool write) {
  if (path_.empty()) return;
  const std::lock_guard lock(mutex_);
  latest_ = std::move(state);
  if (!write) return;
  try {
    write_whole_output(path_, latest_.text());
    failure_.reset();
  } catch (const Error& error) {
    fail(WriteError({"", "", std::string("no checkpoint: ") + error.what(), ""}));
  } catch (const ClosedPipe&) {
    fail(WriteError({path_, "", "no checkpoint: who read it has gone away", "give the name of a file"}));
  }
}

void CheckpointFile::fail(const WriteError& error) {
  if (!failure_) say_(std::string(error.what()) + "; the fit goes on");
  failure_ = error;
}

std::optional<WriteError> CheckpointFile::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void CheckpointFile::write_before_end() {
  const std::lock_guard lock(mutex_);
  try {
    write_whole_output(path_, latest_.text());
    say_("stopped by a signal; " + path_ + " has " + latest_.name);
  } catch (const std::exception& error) {
    say_(std::string("stopped by a signal; no checkpoint: ") + error.what());
  }
}

}  // namespace semicrf
