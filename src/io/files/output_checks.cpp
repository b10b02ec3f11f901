#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "io/files/file_errors.h"
#include "io/files/output_file.h"
#include "io/files/output_target.h"

namespace semicrf {
namespace {

// Device and inode: what makes two names the same file.
using FileIdentity = std::pair<dev_t, ino_t>;

std::optional<FileIdentity> identity(const struct stat& status) {
  return FileIdentity(status.st_dev, status.st_ino);
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status = {};
  if (path == kStandardOutput) {  // only worth comparing when redirected to a file
    if (fstat(STDOUT_FILENO, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    return identity(status);
  }
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return identity(status);
}

struct Target {
  std::string path;      // as the user gave it
  std::string resolved;  // empty: written to directly
  std::optional<FileIdentity> file;
};

void check_index_request(const OutputSpec& spec, const Target& target) {
  if (spec.index == IndexKind::kNone) return;
  if (target.resolved.empty() || !is_compressed_name(spec.path)) {
    throw UsageError("an index cannot be written for '" + spec.path + "'",
                     "only a regular file with a name ending in .gz can have one");
  }
}

void check_writable(const Target& target) {
  if (target.resolved.empty()) {
    if (target.path != kStandardOutput && access(target.path.c_str(), W_OK) != 0) {
      throw write_error(target.path, "cannot be written", errno);
    }
    return;
  }
  const std::string folder = folder_of(target.resolved);
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) throw write_error(target.path, "its folder cannot be used", errno);
  if (!S_ISDIR(status.st_mode)) throw write_error(target.path, "its folder cannot be used", ENOTDIR);
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw write_error(target.path, "its folder cannot be written to", errno);
  if (stat(target.resolved.c_str(), &status) != 0) return;
  if (S_ISDIR(status.st_mode)) {
    throw WriteError({target.path, "", "is a folder", "give the name of a file"});
  }
  if (access(target.resolved.c_str(), W_OK) != 0) throw write_error(target.path, "cannot be replaced", errno);
}

bool same_file(const Target& a, const Target& b) {
  if (a.path == kStandardOutput && b.path == kStandardOutput) return true;
  if (a.resolved.empty() || b.resolved.empty()) return false;  // /dev/null twice is fine
  return a.resolved == b.resolved || (a.file && b.file && *a.file == *b.file);
}

void check_against_inputs(const Target& target, std::span<const std::string> inputs) {
  if (!target.file) return;
  if (target.resolved.empty() && target.path != kStandardOutput) return;
  for (const std::string& input : inputs) {
    if (input == kStandardOutput) continue;  // "-" among inputs is standard input
    const auto file = identity_of(input);
    if (file && *file == *target.file) {
      throw UsageError(
          "output '" + output_display_name(target.path) + "' is the same file as input '" + input + "'",
          "choose another name for the output");
    }
  }
}

}  // namespace

IndexKind index_kind_for(std::int64_t longest_chromosome) {
  constexpr std::int64_t kTbiLimit = std::int64_t{1} << 29;
  return longest_chromosome > kTbiLimit ? IndexKind::kCsi : IndexKind::kTbi;
}

std::string index_path(const OutputSpec& spec) {
  switch (spec.index) {
    case IndexKind::kTbi:
      return spec.path + ".tbi";
    case IndexKind::kCsi:
      return spec.path + ".csi";
    case IndexKind::kNone:
      break;
  }
  return "";
}

std::string output_folder(const std::string& path) {
  const std::string target = resolve_output(path);
  return target.empty() ? "" : folder_of(target);
}

void check_outputs(std::span<const OutputSpec> outputs, std::span<const std::string> inputs) {
  std::vector<Target> targets;
  const auto add = [&](const std::string& path) {
    if (path.empty()) throw UsageError("the name of an output is empty");
    Target target{path, resolve_output(path), identity_of(path)};
    for (const Target& other : targets) {
      if (same_file(target, other)) {
        throw UsageError("two outputs go to the same place: '" + output_display_name(other.path) + "' and '" +
                             output_display_name(path) + "'",
                         "give each its own name");
      }
    }
    check_against_inputs(target, inputs);
    targets.push_back(target);
    return target;
  };
  for (const OutputSpec& spec : outputs) {
    check_index_request(spec, add(spec.path));
    if (spec.index != IndexKind::kNone) add(index_path(spec));
  }
  for (const Target& target : targets) check_writable(target);
}

}  // namespace semicrf
