// A folder for outputs that is made where it is missing, and goes away again where nothing came of it.
#pragma once

#include <string>

#include "io/files/temporary_names.h"

namespace semicrf {

class NewFolder {
 public:
  // Makes the folder unless there is one. WriteError where that is impossible: the folder above it is missing
  // or cannot be written to, or a file has the name.
  explicit NewFolder(const std::string& path);
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;
  // Removes the folder where it was made here and is empty. So does a signal that ends the program.
  ~NewFolder();

 private:
  std::string made_;  // empty: it was there before
  TemporaryName registered_;
};

}  // namespace semicrf
