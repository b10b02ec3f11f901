#include "io/files/new_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "io/files/file_errors.h"

namespace semicrf {

NewFolder::NewFolder(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) {
    made_ = path;
    registered_ = TemporaryName(path);
    return;
  }
  const int problem = errno;
  struct stat status = {};
  if (problem == EEXIST && stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return;
  throw write_error(path, "the folder cannot be made", problem == EEXIST ? ENOTDIR : problem);
}

NewFolder::~NewFolder() {
  if (!made_.empty()) rmdir(made_.c_str());  // which leaves a folder that has files
}

}  // namespace semicrf
