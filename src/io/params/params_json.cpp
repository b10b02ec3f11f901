#include "io/params/params_json.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "core/error.h"
#include "core/text/names.h"
#include "io/files/file_errors.h"
#include "io/json/json_document.h"
#include "io/params/density_json.h"
#include "io/text/palette.h"
#include "io/text/provenance_header.h"
#include "model/durations/duration.h"
#include "model/scores/centering.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

constexpr NumberRule kScoreRule{-kMaxNumber, kMaxNumber, false, true,
                                "a number of at most 1e30 in magnitude or the string \"-inf\""};
constexpr NumberRule kFiniteRule{-kMaxNumber, kMaxNumber, false, false,
                                 "a number of at most 1e30 in magnitude"};
constexpr NumberRule kPositiveRule{0, kMaxNumber, true, false, "a number above 0 (and below 1e30)"};
constexpr NumberRule kProbabilityRule{0, 1, true, false, "a number between 0 and 1, both excluded"};

// How many entries a list has, in messages.
constexpr const char* kPerLabel = "one per label";

// The value whose name stands at `node`; `from_name` maps names to std::optional values, `expected` lists
// them.
template <class FromName>
auto read_choice(const JsonNode& node, FromName from_name, const char* expected) {
  if (const auto value = from_name(node.text(expected))) return *value;
  node.fail_expected(expected);
}

EmissionHead read_emission(const JsonNode& node, std::size_t labels, std::size_t tracks) {
  constexpr std::array<std::string_view, 2> kKeys{"weights", "bias"};
  node.expect_object(kKeys);
  EmissionHead head;
  head.weights = node.at("weights").matrix(labels, kPerLabel, tracks, "one per track", kFiniteRule);
  const auto bias = node.find("bias");
  head.bias = bias ? bias->numbers(labels, kPerLabel, kFiniteRule) : std::vector<double>(labels, 0.0);
  return head;
}

BoundaryHead read_boundary(const JsonNode& node, std::size_t labels, std::size_t tracks) {
  constexpr std::array<std::string_view, 5> kKeys{"window", "start_weights", "start_bias", "end_weights",
                                                  "end_bias"};
  node.expect_object(kKeys);
  BoundaryHead head;
  if (const auto window = node.find("window")) {
    window->expect_list(2, "first and last offset");
    head.first = static_cast<int>(window->element(0).integer(-kMaxBoundaryOffset, kMaxBoundaryOffset));
    head.last = static_cast<int>(window->element(1).integer(-kMaxBoundaryOffset, kMaxBoundaryOffset));
    if (head.first > head.last) window->fail("the first offset is larger than the last");
  }
  const std::size_t inputs = tracks * (head.last - head.first + 1);
  const auto weights = [&](const char* key) {
    const auto entry = node.find(key);
    if (!entry) return std::vector<double>{};
    return entry->matrix(labels, kPerLabel, inputs, "tracks x offsets, offset by offset", kFiniteRule);
  };
  const auto bias = [&](const char* key) {
    const auto entry = node.find(key);
    return entry ? entry->numbers(labels, kPerLabel, kFiniteRule) : std::vector<double>{};
  };
  head.start_weights = weights("start_weights");
  head.start_bias = bias("start_bias");
  head.end_weights = weights("end_weights");
  head.end_bias = bias("end_bias");
  return head;
}

constexpr NumberRule kTailRule{0, 1, true, false,
                               "a number between 0 and 1 (both excluded), null or \"continue\""};

// `names` in quotes, as a list in English: "a", "b" or "c".
std::string choices(const std::vector<std::string_view>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 < names.size() ? ", " : " or ";
    text += in_quotes(names[i]);
  }
  return text;
}

const DurationKind& read_kind(const JsonNode& node) {
  std::vector<std::string_view> names;
  for (const DurationKind* kind : duration_kinds()) names.push_back(kind->name());
  const std::string expected = choices(names);
  if (const DurationKind* kind = find_duration_kind(node.text(expected.c_str()))) return *kind;
  node.fail_expected(expected);
}

// Refuses keys that no kind has, then those that this one does not have.
void check_keys(const JsonNode& node) {
  std::vector<std::string_view> keys{"kind", "tail", "bias"};
  const auto is_among = [](const std::vector<std::string_view>& list, std::string_view key) {
    return std::find(list.begin(), list.end(), key) != list.end();
  };
  for (const DurationKind* kind : duration_kinds())
    for (const DurationKind::Parameter& parameter : kind->parameters())
      if (!is_among(keys, parameter.name)) keys.push_back(parameter.name);
  node.expect_object(keys);
  const DurationKind& kind = read_kind(node.at("kind"));
  std::vector<std::string_view> own{"kind", "tail"};
  if (kind.is_table()) own.push_back("bias");
  for (const DurationKind::Parameter& parameter : kind.parameters()) own.push_back(parameter.name);
  for (const std::string_view key : keys) {
    const auto extra = node.find(key);
    if (!extra || is_among(own, key)) continue;
    extra->fail(in_quotes(key) + " has no meaning for durations of kind " + in_quotes(kind.name()),
                "remove it or change the kind");
  }
}

// q of one label, 0 for none.
double read_tail_entry(const JsonNode& node, const DurationSpec& spec, std::size_t label) {
  if (node.is_null()) return 0;
  if (node.is_string() && node.text() == "continue") {
    if (!spec.kind->is_table())
      if (const auto tail = spec.kind->continued_tail(spec.values[label])) return tail->q;
    node.fail("\"continue\" is for geometric durations only", "give q, a number between 0 and 1");
  }
  return node.number(kTailRule);
}

void read_tail(const JsonNode& node, DurationSpec& spec, const ChainModel& chain) {
  const std::size_t labels = chain.num_labels;
  const bool shared = !node.is_list();  // "continue" or null for every label
  if (shared && !node.is_null() && !(node.is_string() && node.text() == "continue")) {
    node.fail_expected(fmt::format("a list of {} ({}), or \"continue\"", labels, kPerLabel));
  }
  if (!shared) node.expect_list(labels, kPerLabel);
  spec.tail.assign(labels, 0.0);
  const double* last_row = chain.duration_bias.data() + chain.duration_bias.size() - labels;
  for (std::size_t c = 0; c < labels; ++c) {
    const JsonNode entry = shared ? node : node.element(c);
    spec.tail[c] = read_tail_entry(entry, spec, c);
    if (!entry.is_null() && last_row[c] == kNegativeInfinity) {
      entry.fail(
          fmt::format(
              "a tail needs a finite duration score at max_duration, but bias {} of label {} is \"-inf\"",
              chain.max_duration, c),
          "remove the tail or give that duration a score");
    }
  }
  if (std::all_of(spec.tail.begin(), spec.tail.end(), [](double q) { return q == 0; })) spec.tail.clear();
}

// Needs chain.num_labels and chain.max_duration; fills spec, chain.duration_bias and chain.log_tail.
void read_durations(const JsonNode& node, DurationSpec& spec, ChainModel& chain) {
  check_keys(node);
  spec.kind = &read_kind(node.at("kind"));
  const std::size_t labels = chain.num_labels;
  const std::size_t durations = chain.max_duration;
  if (spec.kind->is_table()) {
    chain.duration_bias =
        node.at("bias").matrix(durations, "one per duration 1..max_duration", labels, kPerLabel, kScoreRule);
  } else {
    spec.values.resize(labels);
    for (const DurationKind::Parameter& parameter : spec.kind->parameters()) {
      const NumberRule& rule = parameter.is_probability ? kProbabilityRule : kPositiveRule;
      const std::vector<double> values = node.at(parameter.name).numbers(labels, kPerLabel, rule);
      for (std::size_t c = 0; c < labels; ++c) spec.values[c].push_back(values[c]);
    }
    chain.duration_bias = duration_table(spec, chain.max_duration, chain.num_labels);
  }
  if (const auto tail = node.find("tail")) read_tail(*tail, spec, chain);
  chain.log_tail = tail_scores(spec);
}

std::array<std::uint8_t, 3> read_color(const JsonNode& node) {
  constexpr const char* kExpected = "a color such as \"#ff8000\"";
  const auto color = color_in(node.text(kExpected));
  if (!color) node.fail_expected(kExpected);
  return *color;
}

// Refuses names that are not allowed or were seen before in the same list.
class UniqueNames {
 public:
  std::string read(const JsonNode& node) {
    const std::string& name = node.text("a name");
    if (const std::string problem = name_problem(name); !problem.empty()) node.fail(problem);
    const auto [place, inserted] = seen_.emplace(name, node.pointer());
    if (!inserted) node.fail("the name " + in_quotes(name) + " is already used at " + place->second);
    return name;
  }

 private:
  std::unordered_map<std::string, std::string> seen_;  // name -> pointer
};

std::size_t checked_count(const JsonNode& node, const char* what, std::int64_t most) {
  const std::size_t count = node.list_size(what);
  if (count > static_cast<std::size_t>(most)) {
    node.fail(fmt::format("at most {} {} are allowed, found {}", most, what, count));
  }
  return count;
}

std::vector<Label> read_labels(const JsonNode& node) {
  constexpr std::array<std::string_view, 2> kKeys{"name", "color"};
  const std::size_t count = checked_count(node, "labels", kMaxLabels);
  if (count == 0) node.fail("at least one label is needed");
  UniqueNames names;
  std::vector<Label> labels;
  for (std::size_t c = 0; c < count; ++c) {
    const JsonNode entry = node.element(c);
    Label label;
    if (entry.is_string()) {
      label.name = names.read(entry);
    } else {
      if (!entry.is_object()) entry.fail_expected("a name or an object with a \"name\"");
      entry.expect_object(kKeys);
      label.name = names.read(entry.at("name"));
      if (const auto color = entry.find("color")) label.color = read_color(*color);
    }
    labels.push_back(label);
  }
  return labels;
}

// The name of an input track that was listed before, whose places `names` has.
std::string read_source(const JsonNode& of, const std::vector<Track>& before, const NameIndex& names) {
  std::string name = of.text("the name of a track");
  const std::optional<std::size_t> found = names.find(name);
  if (!found || *found >= before.size() || !before[*found].is_input())
    of.fail_expected("the name of an input track that is listed before");
  return name;
}

// Fails at `node`: its key belongs to this format version, and the file says an earlier one.
[[noreturn]] void fail_newer_key(const JsonNode& node, const std::string& key, const std::string& version) {
  node.fail(in_quotes(key) + " is a key of format version " + version + ", and the file has an earlier one",
            "change \"format_version\" to \"" + version + "\"");
}

// `minor` is the minor version of the format.
std::vector<Track> read_tracks(const JsonNode& node, int minor) {
  constexpr std::array<std::string_view, 11> kKeys{"name",    "transform", "center",    "scale",
                                                   "missing", "threshold", "square_of", "indicator_of",
                                                   "value",   "reads",     "density_of"};
  constexpr std::array<std::string_view, 2> kSquareKeys{"name", "square_of"};
  constexpr std::array<std::string_view, 3> kIndicatorKeys{"name", "indicator_of", "value"};
  constexpr std::array<std::string_view, 4> kKinds{"an input track", "a square", "an indicator", "a density"};
  const std::size_t count = checked_count(node, "tracks", kMaxTracks);
  UniqueNames names;
  std::vector<Track> tracks;
  NameIndex places;
  for (std::size_t f = 0; f < count; ++f) {
    const JsonNode entry = node.element(f);
    if (!entry.find("density_of")) entry.expect_object(kKeys);
    Track track;
    track.name = names.read(entry.at("name"));
    places.add(track.name);
    track.missing = MissingPolicy::kDefault;
    if (const auto square_of = entry.find("square_of")) {
      if (minor < 1) fail_newer_key(*square_of, "square_of", "1.1");
      entry.expect_object(kSquareKeys);
      track.square_of = read_source(*square_of, tracks, places);
    } else if (const auto indicator_of = entry.find("indicator_of")) {
      if (minor < 2) fail_newer_key(*indicator_of, "indicator_of", "1.2");
      entry.expect_object(kIndicatorKeys);
      track.indicator_of = read_source(*indicator_of, tracks, places);
      track.value = entry.at("value").number(kFiniteRule);
    } else if (const auto density_of = entry.find("density_of")) {
      if (minor < 3) fail_newer_key(*density_of, "density_of", "1.3");
      track.density = read_density(entry);
      track.density_of = read_source(*density_of, tracks, places);
      if (!track.density.beside.empty())
        read_source(entry.at(key_beside(track.density.family)), tracks, places);
    }
    if (!tracks.empty() && tracks.back().kind() > track.kind())
      entry.fail(fmt::format("{} follows {}", kKinds[track.kind()], kKinds[tracks.back().kind()]),
                 "list input tracks first, then squares, indicators and densities");
    if (!track.is_input()) {
      tracks.push_back(track);
      continue;
    }
    if (const auto value = entry.find("value")) value->fail("\"value\" belongs to \"indicator_of\"");
    if (const auto transform = entry.find("transform")) {
      track.transform =
          read_choice(*transform, transform_from_name, "\"none\", \"log1p\", \"asinh\" or \"binarize\"");
      if (minor < 1 && track.transform == Transform::kBinarize) fail_newer_key(*transform, "binarize", "1.1");
    }
    if (track.transform == Transform::kBinarize) {
      track.threshold = entry.at("threshold").number(kFiniteRule);
    } else if (const auto threshold = entry.find("threshold")) {
      threshold->fail("\"threshold\" belongs to the transform \"binarize\"");
    }
    if (const auto center = entry.find("center")) track.center = center->number(kFiniteRule);
    if (const auto scale = entry.find("scale")) track.scale = scale->number(kPositiveRule);
    if (const auto missing = entry.find("missing")) {
      track.missing = read_choice(*missing, missing_policy_from_name,
                                  "\"zero\", \"skip\", \"error\", \"mean\" or \"marginal\"");
      if (minor < 1 && is_newer_policy(track.missing))
        fail_newer_key(*missing, std::string(missing_policy_name(track.missing)), "1.1");
    }
    if (const auto reads = entry.find("reads")) {
      if (minor < 2) fail_newer_key(*reads, "reads", "1.2");
      track.reads = reads->text("a text such as \"mapq=30&shift=100\"");
    }
    tracks.push_back(track);
  }
  return tracks;
}

constexpr std::array<std::string_view, 17> kTopKeys{
    "format",   "format_version", "labels",   "max_duration", "bin_size", "centering",
    "initial",  "transition",     "duration", "start",        "end",      "tracks",
    "emission", "boundary",       "training", "edges",        "rule"};

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

// The minor version: 0 to 3.
int check_format(const JsonNode& root) {
  if (!root.is_object()) root.fail_expected("a JSON object", "see docs/users/formats.md");
  const auto format = root.find("format");
  if (!format) root.fail("key \"format\" is missing", "a parameter file has \"format\": \"semicrf-params\"");
  if (!format->is_string() || format->text() != "semicrf-params") {
    format->fail_expected("\"semicrf-params\"", "is this a parameter file?");
  }
  const JsonNode version = root.at("format_version");
  constexpr const char* kExpected = "the string \"1.0\", \"1.1\", \"1.2\" or \"1.3\"";
  const std::string& text = version.text(kExpected);
  if (text != "1.0" && text != "1.1" && text != "1.2" && text != "1.3")
    version.fail_expected(kExpected, "files of another format version need another release of semicrf");
  return text.back() - '0';
}

std::optional<PathRule> rule_of(const std::string& name) {
  if (name == "viterbi") return PathRule::kViterbi;
  if (name == "posterior") return PathRule::kPosterior;
  return std::nullopt;
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
  if (std::int64_t{chain.max_duration} * chain.num_labels > kMaxDurationEntries) {
    longest.fail(
        fmt::format("max_duration times the number of labels may be at most {}", kMaxDurationEntries),
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
    if (minor < 1) fail_newer_key(*edges, "edges", "1.1");
    parameters.edges = read_choice(*edges, edge_rule_from_name, "\"complete\" or \"censored\"");
  }
  if (const auto rule = root.find("rule")) {
    if (minor < 2) fail_newer_key(*rule, "rule", "1.2");
    parameters.rule = read_choice(*rule, rule_of, "\"viterbi\" or \"posterior\"");
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
