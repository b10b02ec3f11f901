#include "io/files/kept_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "io/files/file_errors.h"
#include "io/files/output_names.h"
#include "io/files/temp_spool.h"

namespace semicrf {
namespace {

// What was kept, by descriptor: two names of a pipe are one.
struct Kept {
  std::mutex mutex;
  std::map<int, std::unique_ptr<UnnamedFile>> files;
};

Kept& kept() {
  static Kept all;
  return all;
}

// The open descriptor that is read in the place of `path`, or nothing where `path` is a file.
std::optional<int> pipe_of(const std::string& path) {
  if (path == kStandardInput) return STDIN_FILENO;
  if (!path.starts_with("/dev/") && !path.starts_with("/proc/")) return std::nullopt;
  const auto given = descriptor_of(path);
  struct stat status = {};
  const bool pipe = given && given->own && fstat(given->number, &status) == 0 &&
                    (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode));
  return pipe ? std::optional(given->number) : std::nullopt;
}

std::unique_ptr<UnnamedFile> copy_of(int descriptor, const std::string& name) {
  auto file = std::make_unique<UnnamedFile>();
  std::vector<std::byte> buffer(std::size_t{256} << 10);
  while (true) {
    const ssize_t length = read(descriptor, buffer.data(), buffer.size());
    if (length < 0 && errno == EINTR) continue;
    if (length < 0) throw read_error(name, "cannot be read", errno);
    if (length == 0) return file;
    file->append(std::span(buffer).first(length));
  }
}

}  // namespace

std::string kept_input(const std::string& path) {
  const auto descriptor = pipe_of(path);
  if (!descriptor) return path;
  const std::lock_guard lock(kept().mutex);
  std::unique_ptr<UnnamedFile>& file = kept().files[*descriptor];
  if (!file) file = copy_of(*descriptor, path == kStandardInput ? "standard input" : path);
  return file->path();
}

std::string path_of_kept(const std::string& path) {
  const auto descriptor = pipe_of(path);
  if (!descriptor) return "";
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().files.find(*descriptor);
  return found == kept().files.end() || !found->second ? "" : found->second->path();
}

}  // namespace semicrf
