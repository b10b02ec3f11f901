// Writing parameter files (JSON, format 1).
#pragma once

#include <span>
#include <string>

#include "model/parameters.h"

namespace semicrf {

// The file's text, ending in a newline. Numbers are the shortest that read back as the same double, keys come
// in the order of docs/users/formats.md, so equal parameters give equal bytes. Durations are written in the
// kind they were given in. Throws std::logic_error when `parameters` have wrong shapes, InputError when a
// number is beyond kMaxNumber or not finite. `model`: the file that the error names.
std::string write_params_json(const Parameters& parameters, const std::string& model = "");

// A valid starting file for these labels (at least one, no duplicates) and tracks (may be empty: the inputs
// are label scores), with remarks in x_ keys. Throws UsageError on names a parameter file cannot hold.
std::string params_template(std::span<const std::string> labels, std::span<const std::string> tracks);

}  // namespace semicrf
