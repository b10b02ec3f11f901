// A fit on disk, to go on from after a stop.
#pragma once

#include <string>

#include "train/fit/fit_state.h"

namespace semicrf {

// Written to a temporary name and renamed: there is always a whole checkpoint or none. `fingerprint` tells
// the data and options it belongs to.
void write_checkpoint(const std::string& path, const std::string& fingerprint, const FitState& state);

// ReadError: cannot be read. InputError: no checkpoint, damaged (its SHA-256 does not match), of another
// version, or of other data, options or coordinates than `fingerprint` and `size` say.
FitState read_checkpoint(const std::string& path, const std::string& fingerprint, std::size_t size);

// The text of a checkpoint and its contents, for tests.
std::string checkpoint_text(const std::string& fingerprint, const FitState& state);

}  // namespace semicrf
