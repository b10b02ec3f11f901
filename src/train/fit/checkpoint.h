// The checkpoint of a fit: on disk, to go on from after a stop.
#pragma once

#include <string>

#include "train/fit/fit_state.h"

namespace semicrf {

// The text of a checkpoint. `fingerprint` tells the data and options it belongs to.
std::string checkpoint_text(const std::string& fingerprint, const FitState& state);

// ReadError: cannot be read. InputError: no checkpoint, damaged (its SHA-256 does not match), of another
// version, or of other data, options or coordinates than `fingerprint` and `size` say.
FitState read_checkpoint(const std::string& path, const std::string& fingerprint, std::size_t size);

}  // namespace semicrf
