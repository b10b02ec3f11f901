// Text on standard output.
#pragma once

#include <string>

#include "io/files/output_file.h"

namespace semicrf {

// WriteError or ClosedPipe when it cannot be written.
inline void print(const std::string& text) {
  OutputFile output({"-", IndexKind::kNone});
  output.write(text);
  output.commit();
}

}  // namespace semicrf
