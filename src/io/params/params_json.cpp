#include "io/params/params_json.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "io/files/file_errors.h"
#include "io/params/params_sections.h"
#include "io/text/sha256.h"
#include "model/scores/centering.h"

namespace semicrf {
namespace {

constexpr std::array<std::string_view, 16> kTopKeys{
    "format",   "format_version", "labels", "max_duration", "bin_size", "centering", "initial",  "transition",
    "duration", "start",          "end",    "tracks",       "emission", "boundary",  "training", "edges"};

// The bytes of a file (or pipe), at most the JSON limit and one more.
std::string read_bytes(const std::string& path) {
  constexpr std::size_t kMost = JsonLimits{}.bytes + 1;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (!file) throw read_error(path, "cannot be opened", errno);
  std::string bytes;
  std::array<char, 1 << 16> buffer;
  while (bytes.size() < kMost) {
    const std::size_t count =
        std::fread(buffer.data(), 1, std::min(buffer.size(), kMost - bytes.size()), file.get());
    bytes.append(buffer.data(), count);
    // JSON has no zero bytes, but devices and binary files do: the parser says so.
    if (std::find(buffer.begin(), buffer.begin() + count, '\0') != buffer.begin() + count) break;
    if (count > 0) continue;
    if (std::ferror(file.get()) != 0) throw read_error(path, "cannot be read", errno);
    break;
  }
  return bytes;
}

// The minor version: 0 or 1.
int check_format(const JsonNode& root) {
  if (!root.is_object()) root.fail_expected("a JSON object", "see docs/users/formats.md");
  const auto format = root.find("format");
  if (!format) root.fail("key \"format\" is missing", "a parameter file has \"format\": \"semicrf-params\"");
  if (!format->is_string() || format->text() != "semicrf-params") {
    format->fail_expected("\"semicrf-params\"", "is this a parameter file?");
  }
  const JsonNode version = root.at("format_version");
  constexpr const char* kExpected = "the string \"1.0\" or \"1.1\"";
  const std::string& text = version.text(kExpected);
  if (text != "1.0" && text != "1.1")
    version.fail_expected(kExpected, "files of another format version need another release of semicrf");
  return text == "1.0" ? 0 : 1;
}

std::optional<InitialTerm> initial_of(const std::string& name) {
  if (name == "uniform") return InitialTerm::kUniform;
  if (name == "none") return InitialTerm::kNone;
  return std::nullopt;
}

void read_chain(const JsonNode& root, Parameters& parameters) {
  ChainModel& chain = parameters.chain;
  const std::size_t labels = parameters.labels.size();
  chain.num_labels = parameters.num_labels();
  const JsonNode longest = root.at("max_duration");
  chain.max_duration = static_cast<int>(longest.integer(1, kMaxDuration));
  if (static_cast<std::int64_t>(chain.max_duration) * chain.num_labels > kMaxDurationEntries) {
    longest.fail(
        "max_duration times the number of labels may be at most " + std::to_string(kMaxDurationEntries),
        "use larger bins, or a shorter max_duration and a tail");
  }
  if (const auto initial = root.find("initial")) {
    chain.initial = read_choice(*initial, initial_of, "\"uniform\" or \"none\"");
  }
  chain.transition =
      root.at("transition")
          .matrix(labels, "one row per source label", labels, "one per target label", kScoreRule);
  read_durations(root.at("duration"), parameters.duration, chain);
  const auto scores = [&](const char* key) {
    const auto entry = root.find(key);
    return entry ? entry->numbers(labels, kPerLabel, kScoreRule) : std::vector<double>(labels, 0.0);
  };
  chain.start_scores = scores("start");
  chain.end_scores = scores("end");
}

void read_heads(const JsonNode& root, int minor, Parameters& parameters) {
  const auto tracks = root.find("tracks");
  const auto emission = root.find("emission");
  const auto boundary = root.find("boundary");
  if (tracks) parameters.tracks = read_tracks(*tracks, minor);
  const std::size_t labels = parameters.labels.size();
  const std::size_t inputs = parameters.tracks.size();
  if (emission) {
    if (inputs == 0) emission->fail("\"emission\" needs \"tracks\"", "list the tracks its weights are for");
    parameters.emission = read_emission(*emission, labels, inputs);
  } else if (inputs > 0) {
    tracks->fail("\"tracks\" are given, but no \"emission\" that uses them",
                 "add \"emission\", or remove \"tracks\" when the inputs are label scores");
  }
  if (boundary) {
    if (!emission) boundary->fail("\"boundary\" needs \"tracks\" and \"emission\"");
    parameters.boundary = read_boundary(*boundary, labels, inputs);
  }
}

}  // namespace

Parameters parse_params_json(std::string_view text, const std::string& file) {
  const Json document = parse_json(text, file);
  const JsonNode root(document, file);
  const int minor = check_format(root);
  root.expect_object(kTopKeys);
  Parameters parameters;
  parameters.labels = read_labels(root.at("labels"));
  if (const auto bin_size = root.find("bin_size")) {
    parameters.bin_size = bin_size->integer(1, kMaxBinSize);
    parameters.bin_size_given = true;
  }
  if (const auto centering = root.find("centering")) {
    parameters.centering = read_choice(*centering, centering_from_name,
                                       "\"mean\", \"none\", \"position-max\" or \"mean-preserving\"");
  }
  if (const auto edges = root.find("edges")) {
    if (minor < 1) fail_newer_key(*edges, "edges");
    parameters.edges = read_choice(*edges, edge_rule_from_name, "\"complete\" or \"censored\"");
  }
  read_chain(root, parameters);
  read_heads(root, minor, parameters);
  if (const auto training = root.find("training")) {
    if (!training->is_object()) training->fail_expected("an object");
    parameters.training = training->json().dump();
  }
  return parameters;
}

ParameterFile read_params_json(const std::string& path) {
  const std::string bytes = read_bytes(path);
  return {parse_params_json(bytes, path), sha256_hex(bytes)};
}

}  // namespace semicrf
