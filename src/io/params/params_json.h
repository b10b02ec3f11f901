// Reading parameter files (JSON, format 1; docs/users/formats.md).
#pragma once

#include <cstdint>
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

}  // namespace semicrf
