#include "train/ranks/ranks.h"

#include <fmt/format.h>

#include <new>

#include "core/error.h"

namespace semicrf {

namespace {

constexpr char kDone = 0;  // status of a part; else its exit code
const std::string kEnd = "end";

// A status and a message: what became of a part, as it travels.
std::string failure(ExitCode code, const std::string& message) { return static_cast<char>(code) + message; }

}  // namespace

std::vector<std::string> Ranks::gather(const std::function<std::string()>& part) {
  if (size() == 1) return {part()};
  std::exception_ptr own;
  std::string result(1, kDone);
  try {
    result += part();
  } catch (const Error& error) {
    own = std::current_exception();
    result = failure(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    own = std::current_exception();
    result = failure(ExitCode::kOutOfMemory, "out of memory; start fewer ranks on a machine");
  } catch (const std::exception& error) {
    own = std::current_exception();
    result = failure(ExitCode::kInternal, error.what());
  }
  std::vector<std::string> parts = collect(std::move(result));
  std::string verdict(1, kDone);
  std::size_t failed = 0;
  for (std::size_t i = 0; i < parts.size() && verdict.front() == kDone; ++i)
    if (parts[i].front() != kDone) verdict = parts[failed = i];
  broadcast(verdict);
  if (verdict.front() != kDone) {
    others_serve();  // which is what they do where they failed
    if (!is_first()) throw OtherRankFailed();
    if (failed == 0) std::rethrow_exception(own);
    throw Error(static_cast<ExitCode>(verdict.front()),
                {"", "", fmt::format("rank {}: {}", failed, verdict.substr(1)), ""});
  }
  for (std::string& bytes : parts) bytes.erase(0, 1);
  return parts;
}

void Ranks::serve(const std::function<void(const std::string&)>& answer) {
  for (std::string request; !ended_;) {
    broadcast(request);
    ended_ = request == kEnd;
    if (ended_) return;
    try {
      answer(request);
    } catch (const OtherRankFailed&) {
      // Rank 0 tells the error, and ends this.
    }
  }
}

void Ranks::ask(std::string request) {
  if (size() == 1) return;
  others_serve_ = false;
  broadcast(request);
}

void Ranks::finish(int exit_code) {
  if (size() > 1) {
    const bool out_of_step = is_first() ? !others_serve_ : exit_code != 0;
    if (out_of_step) abort(exit_code);
    std::string end = kEnd;
    if (is_first()) broadcast(end);
  }
  leave();
}

}  // namespace semicrf
