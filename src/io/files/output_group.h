// Outputs that belong together: all of them are there, or none.
#pragma once

#include <deque>
#include <string>
#include <string_view>

#include "io/files/output_file.h"

namespace semicrf {

class OutputGroup {
 public:
  // Valid as long as the group.
  OutputFile& open(const std::string& path) {
    return files_.emplace_back(OutputSpec{path, IndexKind::kNone});
  }
  void write(const std::string& path, std::string_view text) { open(path).write(text); }
  // Finishes all before the first has its name. WriteError: none has.
  void commit() {
    for (OutputFile& file : files_) file.finish();
    for (OutputFile& file : files_) file.commit();
  }

 private:
  std::deque<OutputFile> files_;
};

}  // namespace semicrf
