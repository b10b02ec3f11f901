// Parameter files, read and written (JSON, format 1; docs/users/formats.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "model/parameters.h"

namespace semicrf {

// Limits that keep a damaged or hostile file from taking the machine down.
inline constexpr std::int64_t kMaxTracks = 10'000;
inline constexpr std::int64_t kMaxDuration = 10'000'000;
inline constexpr std::int64_t kMaxDurationEntries = std::int64_t{1} << 25;  // K * C, 256 MiB as double
inline constexpr std::int64_t kMaxBinSize = 1'000'000'000;
inline constexpr std::int64_t kMaxBoundaryOffset = 100'000;
inline constexpr double kMaxNumber = 1e30;  // magnitude of any score, weight or parameter

struct ParameterFile {
  Parameters parameters;
  std::string sha256;  // digest of the file's bytes, hexadecimal
};

// Throws ReadError when the file cannot be opened or read, InputError (with the JSON pointer of the place)
// when it is not a valid parameter file.
ParameterFile read_params_json(const std::string& path);

// Parameters from text; `file` is the name used in errors.
Parameters parse_params_json(std::string_view text, const std::string& file);

// The file's text, ending in a newline. Numbers are the shortest that read back as the same double, keys come
// in the order of docs/users/formats.md, so equal parameters give equal bytes. Durations are written in the
// kind they were given in. Throws std::logic_error when `parameters` have wrong shapes, InputError when a
// number is beyond kMaxNumber or not finite. `model`: the file that the error names.
std::string write_params_json(const Parameters& parameters, const std::string& model = "");

// A valid starting file for these labels (at least one, no duplicates) and tracks (may be empty: the inputs
// are label scores), with remarks in x_ keys. Throws UsageError on names a parameter file cannot hold.
std::string params_template(std::span<const std::string> labels, std::span<const std::string> tracks);

}  // namespace semicrf
