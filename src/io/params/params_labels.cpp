#include <algorithm>
#include <array>
#include <unordered_map>

#include "core/text/name_index.h"
#include "core/text/names.h"
#include "io/params/params_sections.h"
#include "io/text/palette.h"
#include "model/scores/feature_transform.h"

namespace semicrf {
namespace {

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
    node.fail("at most " + std::to_string(most) + " " + what + " are allowed, found " +
              std::to_string(count));
  }
  return count;
}

}  // namespace

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

namespace {

// The square of a track that was listed before, whose places `names` has.
void read_square(const JsonNode& entry, const JsonNode& of, const std::vector<Track>& before,
                 const NameIndex& names, Track& track) {
  constexpr std::array<std::string_view, 2> kKeys{"name", "square_of"};
  entry.expect_object(kKeys);
  track.square_of = of.text("the name of a track");
  const std::optional<std::size_t> found = names.find(track.square_of);
  if (!found || before[*found].is_square())
    of.fail_expected("the name of an input track that is listed before");
}

}  // namespace

void fail_newer_key(const JsonNode& node, const std::string& key) {
  node.fail(in_quotes(key) + " is a key of format version 1.1, and the file has \"format_version\": \"1.0\"",
            "change that to \"1.1\"");
}

std::vector<Track> read_tracks(const JsonNode& node, int minor) {
  constexpr std::array<std::string_view, 7> kKeys{"name",    "transform", "center",   "scale",
                                                  "missing", "threshold", "square_of"};
  const std::size_t count = checked_count(node, "tracks", kMaxTracks);
  UniqueNames names;
  std::vector<Track> tracks;
  NameIndex places;
  for (std::size_t f = 0; f < count; ++f) {
    const JsonNode entry = node.element(f);
    entry.expect_object(kKeys);
    Track track;
    track.name = names.read(entry.at("name"));
    places.add(track.name);
    track.missing = MissingPolicy::kDefault;
    if (const auto square_of = entry.find("square_of")) {
      if (minor < 1) fail_newer_key(*square_of, "square_of");
      read_square(entry, *square_of, tracks, places, track);
      tracks.push_back(track);
      continue;
    }
    if (!tracks.empty() && tracks.back().is_square())
      entry.fail("an input track follows a square", "list all squares after the input tracks");
    if (const auto transform = entry.find("transform")) {
      track.transform =
          read_choice(*transform, transform_from_name, "\"none\", \"log1p\", \"asinh\" or \"binarize\"");
      if (minor < 1 && track.transform == Transform::kBinarize) fail_newer_key(*transform, "binarize");
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
        fail_newer_key(*missing, std::string(missing_policy_name(track.missing)));
    }
    tracks.push_back(track);
  }
  return tracks;
}

}  // namespace semicrf
