// Progress on standard error.
#pragma once

#include <memory>
#include <string>

#include "log/progress.h"

namespace semicrf {

// `kind`: "bar" (one line, redrawn), "line" (a line per tenth), "off", or "auto": a bar when standard error
// is a terminal. Null when nothing shall be shown.
std::unique_ptr<Progress> make_progress(const std::string& kind, bool quiet);

}  // namespace semicrf
