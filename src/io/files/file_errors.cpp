#include "io/files/file_errors.h"

#include <cerrno>
#include <cstddef>
#include <system_error>

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

}  // namespace semicrf
