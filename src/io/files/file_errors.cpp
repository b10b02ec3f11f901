#include "io/files/file_errors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <system_error>
#include <vector>

#include "core/text/text.h"
#include "io/files/output_names.h"

namespace semicrf {
namespace {

std::string write_advice(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT:
      return "free some space or write to another disk";
    case EACCES:
    case EPERM:
    case EROFS:
      return "check the permissions or write to another folder";
    case ENOENT:
    case ENOTDIR:
      return "make the folder first";
    case ENAMETOOLONG:
      return "choose a shorter name";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n), or write fewer outputs";
    default:
      return "";
  }
}

std::string read_advice(int error_number) {
  switch (error_number) {
    case ENOENT:
      return "check the path";
    case EACCES:
    case EPERM:
      return "check the permissions";
    case EMFILE:
    case ENFILE:
      return "raise the limit on open files (ulimit -n), or give fewer files at once";
    case EISDIR:
      return "give the name of a file";
    default:
      return "";
  }
}

// Whether the path has, or ends in, a URL: "https://..." and "sheet/https://...".
bool is_remote(const std::string& path) {
  const std::size_t colon = path.find("://");
  if (colon == std::string::npos || colon == 0) return false;
  const char before = path[colon - 1];
  return (before >= 'a' && before <= 'z') || (before >= 'A' && before <= 'Z') ||
         (before >= '0' && before <= '9');
}

}  // namespace

std::string errno_text(int error_number) { return std::generic_category().message(error_number); }

WriteError write_error(const std::string& path, const std::string& action, int error_number) {
  return WriteError({path, "", action + " (" + errno_text(error_number) + ")", write_advice(error_number)});
}

ReadError read_error(const std::string& path, const std::string& action, int error_number) {
  if (error_number == ENOENT && is_remote(path))
    return ReadError({path, "", "remote files are not read", "download it first"});
  return ReadError({path, "", action + " (" + errno_text(error_number) + ")", read_advice(error_number)});
}

namespace {

namespace fs = std::filesystem;

// NUMBER of /proc/PROCESS/fd/NUMBER, or of /proc/PROCESS/task/THREAD/fd/NUMBER; `folder` has its links
// resolved, so that "self" is a number.
std::optional<DescriptorPath> in_proc(const fs::path& folder, const std::string& name) {
  const std::vector<std::string> parts(folder.begin(), folder.end());
  const bool of_process = parts.size() == 4 || (parts.size() == 6 && parts[3] == "task");
  if (!of_process || parts[1] != "proc" || parts.back() != "fd") return std::nullopt;
  const auto process = number_in<int>(parts[2]), number = number_in<int>(name);
  if (!process || !number || *process < 0 || *number < 0) return std::nullopt;
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
