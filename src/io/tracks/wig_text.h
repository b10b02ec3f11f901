// Tracks as wig: fixedStep and variableStep.
#pragma once

#include <memory>
#include <string>

#include "io/tracks/track_text.h"

namespace semicrf {

// Values under the declarations of a file; positions count from 1 there. One column.
std::unique_ptr<TrackTextReader> open_wig(const std::string& path);

}  // namespace semicrf
