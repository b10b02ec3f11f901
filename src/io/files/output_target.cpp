#include "io/files/output_target.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "io/files/descriptors.h"

namespace semicrf {
namespace fs = std::filesystem;

std::string output_display_name(const std::string& path) {
  return path == kStandardOutput ? "standard output" : path;
}

std::string resolve_output(const std::string& path) {
  if (descriptor_of(path)) return "";
  std::error_code error;
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return "";
    const fs::path real = fs::canonical(path, error);
    return error ? "" : real.string();
  }
  // Nothing there yet, or a chain of links that ends at nothing: the file is made where the chain ends.
  constexpr int kMaxLinks = 40;
  fs::path target = fs::absolute(path);
  for (int i = 0; i < kMaxLinks && fs::is_symlink(target, error); ++i) {
    const fs::path next = fs::read_symlink(target, error);
    target = next.is_absolute() ? next : target.parent_path() / next;
  }
  const fs::path folder = fs::canonical(target.parent_path(), error);
  return error ? target.string() : (folder / target.filename()).string();
}

std::string folder_of(const std::string& target) { return fs::path(target).parent_path().string(); }

}  // namespace semicrf
