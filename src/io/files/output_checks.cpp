#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "io/files/file_errors.h"
#include "io/files/output_file.h"
#include "io/files/output_names.h"

namespace semicrf {
namespace {

// Device and inode: what makes two names the same file.
using FileIdentity = std::pair<dev_t, ino_t>;

std::optional<FileIdentity> identity(const struct stat& status) {
  return FileIdentity(status.st_dev, status.st_ino);
}

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status = {};
  if (const auto given = descriptor_of(path); given && given->own) {
    if (fstat(given->number, &status) != 0) return std::nullopt;
    return identity(status);
  }
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return identity(status);
}

struct Target {
  std::string path;      // as the user gave it
  std::string resolved;  // empty: written to directly
  std::optional<DescriptorPath> descriptor;
  std::optional<FileIdentity> file;
  bool is_device = false;  // a terminal, /dev/null: takes any number of outputs
};

Target target_of(const std::string& path) {
  if (path.empty()) throw UsageError("the name of an output is empty");
  Target target{path, resolve_output(path), descriptor_of(path), identity_of(path), false};
  struct stat status = {};
  const bool own = target.descriptor && target.descriptor->own;
  const int problem = own ? fstat(target.descriptor->number, &status) : stat(path.c_str(), &status);
  target.is_device = problem == 0 && S_ISCHR(status.st_mode);
  return target;
}

void check_index_request(const OutputSpec& spec, const Target& target) {
  if (spec.index == IndexKind::kNone) return;
  if (target.resolved.empty() || !is_compressed_name(spec.path)) {
    throw UsageError("an index cannot be written for '" + spec.path + "'",
                     "only a regular file with a name ending in .gz or .bgz can have one");
  }
}

void check_descriptor(const Target& target) {
  const int number = target.descriptor->number;
  if (is_writable_descriptor(number)) return;
  const std::string name =
      number == STDOUT_FILENO ? std::string("standard output") : "the descriptor " + target.path;
  throw WriteError({"", "", name + " is closed, or not open for writing", "give the name of a file"});
}

// The longest name that the file system of `folder` takes, bytes.
std::size_t longest_name(const std::string& folder) {
  constexpr std::size_t kUsual = 255;
  const long most = pathconf(folder.c_str(), _PC_NAME_MAX);
  return most > 0 ? static_cast<std::size_t>(most) : kUsual;
}

void check_writable(const Target& target) {
  if (target.descriptor && target.descriptor->own) return check_descriptor(target);
  if (target.resolved.empty()) {
    if (access(target.path.c_str(), W_OK) != 0) throw write_error(target.path, "cannot be written", errno);
    return;
  }
  const std::string folder = folder_of(target.resolved);
  struct stat status = {};
  if (stat(folder.c_str(), &status) != 0) throw write_error(target.path, "its folder cannot be used", errno);
  if (!S_ISDIR(status.st_mode)) throw write_error(target.path, "its folder cannot be used", ENOTDIR);
  if (access(folder.c_str(), W_OK | X_OK) != 0)
    throw write_error(target.path, "its folder cannot be written to", errno);
  const std::size_t size = std::filesystem::path(target.resolved).filename().string().size();
  if (const std::size_t most = longest_name(folder); size > most)
    throw WriteError(
        {target.path, "",
         fmt::format("its name has {} bytes, and the folder takes names of {} at most", size, most),
         "choose a shorter one"});
  if (stat(target.resolved.c_str(), &status) != 0) {
    if (errno == ENAMETOOLONG) throw write_error(target.path, "cannot be written", errno);
    return;
  }
  if (S_ISDIR(status.st_mode)) {
    throw WriteError({target.path, "", "is a folder", "give the name of a file"});
  }
  if (access(target.resolved.c_str(), W_OK) != 0) throw write_error(target.path, "cannot be replaced", errno);
}

bool same_file(const Target& a, const Target& b) {
  if (a.descriptor && b.descriptor && a.descriptor->own == b.descriptor->own &&
      a.descriptor->number == b.descriptor->number)
    return true;
  if (!a.resolved.empty() && a.resolved == b.resolved) return true;
  return a.file && b.file && *a.file == *b.file && !a.is_device;  // /dev/null twice is fine
}

void check_against_input(const Target& target, const std::string& input) {
  struct stat status = {};
  const int problem = input == kStandardInput ? fstat(STDIN_FILENO, &status) : stat(input.c_str(), &status);
  // A terminal or a pipe may be both.
  if (problem != 0 || !S_ISREG(status.st_mode) || identity(status) != target.file) return;
  throw UsageError(
      "output '" + output_display_name(target.path) + "' is the same file as input '" + input + "'",
      "choose another name for the output");
}

void check_against_output(const Target& target, const Target& other) {
  if (!same_file(target, other)) return;
  throw UsageError("two outputs go to the same place: '" + output_display_name(other.path) + "' and '" +
                       output_display_name(target.path) + "'",
                   "give each its own name");
}

// What would be replaced while messages are written to it.
void check_against_messages(const Target& target) {
  struct stat status = {};
  if (target.resolved.empty() || fstat(STDERR_FILENO, &status) != 0 || identity(status) != target.file)
    return;
  throw UsageError("output '" + target.path + "' is the file that standard error goes to",
                   "choose another name for the output");
}

struct CommandFiles {
  std::vector<std::string> inputs;
  std::vector<Target> logs;
};

CommandFiles& command_files() {
  static CommandFiles files;
  return files;
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

void remember_files(std::vector<std::string> inputs, const std::vector<std::string>& logs) {
  CommandFiles& files = command_files();
  files.inputs = std::move(inputs);
  files.logs.clear();
  for (const std::string& log : logs) files.logs.push_back(target_of(log));
}

void check_distinct(std::span<const std::string> outputs, std::span<const std::string> inputs) {
  std::vector<Target> targets;
  for (const std::string& path : outputs) {
    const Target target = target_of(path);
    for (const Target& other : targets) check_against_output(target, other);
    for (const std::string& input : inputs) check_against_input(target, input);
    check_against_messages(target);
    targets.push_back(target);
  }
}

void check_outputs(std::span<const OutputSpec> outputs, std::span<const std::string> inputs) {
  std::vector<std::string> paths;
  for (const OutputSpec& spec : outputs) {
    if (!spec.path.empty()) check_index_request(spec, target_of(spec.path));
    paths.push_back(spec.path);
    if (spec.index != IndexKind::kNone) paths.push_back(index_path(spec));
  }
  const CommandFiles& command = command_files();
  std::vector<std::string> read(inputs.begin(), inputs.end());
  read.insert(read.end(), command.inputs.begin(), command.inputs.end());
  check_distinct(paths, read);
  for (const std::string& path : paths) {
    const Target target = target_of(path);
    for (const Target& log : command.logs) check_against_output(target, log);
    check_writable(target);
  }
}

}  // namespace semicrf
