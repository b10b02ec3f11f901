#include "io/files/descriptors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <system_error>
#include <vector>

#include "io/files/output_names.h"

namespace semicrf {
namespace {

namespace fs = std::filesystem;

std::optional<int> whole_number(const std::string& text) {
  int number = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || next != end || number < 0) return std::nullopt;
  return number;
}

// NUMBER of /proc/PROCESS/fd/NUMBER, or of /proc/PROCESS/task/THREAD/fd/NUMBER; `folder` has its links
// resolved, so that "self" is a number.
std::optional<DescriptorPath> in_proc(const fs::path& folder, const std::string& name) {
  const std::vector<std::string> parts(folder.begin(), folder.end());
  const bool of_process = parts.size() == 4 || (parts.size() == 6 && parts[3] == "task");
  if (!of_process || parts[1] != "proc" || parts.back() != "fd") return std::nullopt;
  const auto process = whole_number(parts[2]), number = whole_number(name);
  if (!process || !number) return std::nullopt;
  return DescriptorPath{*number, *process == getpid()};
}

}  // namespace

void reserve_standard_descriptors() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number, which is this one.
    if (open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

std::optional<DescriptorPath> descriptor_of(const std::string& path) {
  if (path == kStandardOutput) return DescriptorPath{STDOUT_FILENO, true};
  constexpr int kMostLinks = 40;
  std::error_code error;
  fs::path at = fs::absolute(path, error);
  for (int i = 0; !error && i < kMostLinks; ++i) {
    const fs::path folder = fs::canonical(at.parent_path(), error);
    if (error) return std::nullopt;
    if (const auto found = in_proc(folder, at.filename().string())) return found;
    at = folder / at.filename();
    if (!fs::is_symlink(at, error)) return std::nullopt;
    const fs::path next = fs::read_symlink(at, error);
    at = next.is_absolute() ? next : folder / next;
  }
  return std::nullopt;
}

bool is_writable_descriptor(int descriptor) noexcept {
  const int flags = fcntl(descriptor, F_GETFL);
  return flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
}

std::int64_t allow_open_files(std::int64_t count) {
  constexpr std::int64_t kMany = std::numeric_limits<std::int32_t>::max();
  const auto number = [](rlim_t limit) {
    return limit == RLIM_INFINITY ? kMany : static_cast<std::int64_t>(std::min<rlim_t>(limit, kMany));
  };
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return kMany;
  if (number(limit.rlim_cur) >= count) return number(limit.rlim_cur);
  rlimit raised = limit;
  raised.rlim_cur = limit.rlim_max == RLIM_INFINITY ? static_cast<rlim_t>(count)
                                                    : std::min(limit.rlim_max, static_cast<rlim_t>(count));
  if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  return number(limit.rlim_cur);
}

}  // namespace semicrf
