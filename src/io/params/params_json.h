// Reading parameter files (JSON, format 1; docs/users/formats.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/json/json_document.h"
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

// The sections of a parameter file, one function each; used by params_json.cpp.

inline constexpr NumberRule kScoreRule{-kMaxNumber, kMaxNumber, false, true,
                                       "a number of at most 1e30 in magnitude or the string \"-inf\""};
inline constexpr NumberRule kFiniteRule{-kMaxNumber, kMaxNumber, false, false,
                                        "a number of at most 1e30 in magnitude"};
inline constexpr NumberRule kPositiveRule{0, kMaxNumber, true, false, "a number above 0 (and below 1e30)"};
inline constexpr NumberRule kProbabilityRule{0, 1, true, false, "a number between 0 and 1, both excluded"};

// How many entries a list has, in messages.
inline constexpr const char* kPerLabel = "one per label";

std::vector<Label> read_labels(const JsonNode& node);

// Needs chain.num_labels and chain.max_duration; fills spec, chain.duration_bias and chain.log_tail.
void read_durations(const JsonNode& node, DurationSpec& spec, ChainModel& chain);

// `minor` is the minor version of the format.
std::vector<Track> read_tracks(const JsonNode& node, int minor);
// Fails at `node`: its key belongs to this format version, and the file says an earlier one.
[[noreturn]] void fail_newer_key(const JsonNode& node, const std::string& key, const std::string& version);
EmissionHead read_emission(const JsonNode& node, std::size_t labels, std::size_t tracks);
BoundaryHead read_boundary(const JsonNode& node, std::size_t labels, std::size_t tracks);

// The value whose name stands at `node`; `from_name` maps names to std::optional values, `expected` lists
// them.
template <class FromName>
auto read_choice(const JsonNode& node, FromName from_name, const char* expected) {
  if (const auto value = from_name(node.text(expected))) return *value;
  node.fail_expected(expected);
}

}  // namespace semicrf
