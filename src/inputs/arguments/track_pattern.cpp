#include "inputs/arguments/track_pattern.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"

namespace semicrf {
namespace {

// The last `count` components of a path, joined by "/".
std::string last_components(const std::string& path, std::size_t count) {
  std::size_t begin = path.size();
  for (std::size_t i = 0; i < count && begin != std::string::npos && begin > 0; ++i)
    begin = path.rfind('/', begin - 1);
  return begin == std::string::npos || path.empty() ? path
                                                    : path.substr(begin + (path[begin] == '/' ? 1 : 0));
}

// How long a beginning all names share, cut after its last dot.
std::size_t common_beginning(const std::vector<std::string>& names) {
  std::size_t length = names.front().size();
  for (const std::string& name : names) {
    const auto differ = std::mismatch(name.begin(), name.end(), names.front().begin(), names.front().end());
    length = std::min<std::size_t>(length, differ.first - name.begin());
  }
  const std::size_t dot = names.front().substr(0, length).rfind('.');
  return dot == std::string::npos ? 0 : dot + 1;
}

std::size_t common_ending(std::vector<std::string> names) {
  for (std::string& name : names) std::reverse(name.begin(), name.end());
  return common_beginning(names);
}

// Whether the pattern gives every file a track of its own and all the same sample.
bool is_sound(const std::string& pattern, const std::vector<std::string>& names) {
  if (pattern.find_first_of("{}") == std::string::npos) return false;
  const TrackPattern tried(pattern);
  std::vector<std::string> tracks;
  std::string sample;
  for (const std::string& name : names) {
    const auto found = tried.match(name);
    if (!found || (!tracks.empty() && found->sample != sample)) return false;
    sample = found->sample;
    tracks.push_back(found->track);
  }
  std::ranges::sort(tracks);
  return std::ranges::adjacent_find(tracks) == tracks.end();
}

}  // namespace

TrackPattern::TrackPattern(const std::string& text) : text_(text) {
  const auto refuse = [&](const std::string& what) {
    return UsageError("--track-pattern: '" + text_ + "' " + what, "write for example '{sample}.{track}.bw'");
  };
  const auto count = [&](Part::Kind kind) {
    return std::ranges::count(parts_, kind, [](const Part& part) { return part.kind; });
  };
  std::size_t at = 0;
  while (at < text_.size()) {
    const std::size_t brace = std::min(text_.find('{', at), text_.size());
    if (brace > at) parts_.push_back({Part::Kind::kLiteral, text_.substr(at, brace - at)});
    if (brace == text_.size()) break;
    const std::size_t close = text_.find('}', brace);
    const std::string name = text_.substr(brace, close == std::string::npos ? close : close + 1 - brace);
    if (name != "{track}" && name != "{sample}")
      throw refuse("has " + name + ", which is neither {track} nor {sample}");
    parts_.push_back({name == "{track}" ? Part::Kind::kTrack : Part::Kind::kSample, ""});
    at = close + 1;
  }
  if (count(Part::Kind::kTrack) != 1) throw refuse("must have {track} once");
  if (count(Part::Kind::kSample) > 1) throw refuse("has {sample} more than once");
}

bool TrackPattern::match_from(std::size_t part, const std::string& text, std::size_t at, Names& names) const {
  if (part == parts_.size()) return at == text.size();
  const Part& wanted = parts_[part];
  if (wanted.kind == Part::Kind::kLiteral)
    return text.compare(at, wanted.literal.size(), wanted.literal) == 0 &&
           match_from(part + 1, text, at + wanted.literal.size(), names);
  std::string& name = wanted.kind == Part::Kind::kTrack ? names.track : names.sample;
  for (std::size_t end = at + 1; end <= text.size() && text[end - 1] != '/'; ++end) {
    name = text.substr(at, end - at);
    if (match_from(part + 1, text, end, names)) return true;
  }
  return false;
}

std::optional<TrackPattern::Names> TrackPattern::match(const std::string& path) const {
  const std::size_t components = std::ranges::count(text_, '/') + 1;
  Names names;
  if (!match_from(0, last_components(path, components), 0, names)) return std::nullopt;
  return names;
}

std::optional<std::string> common_pattern(const std::vector<std::string>& paths) {
  if (paths.size() < 2) return std::nullopt;
  std::vector<std::string> files, stems;
  for (const std::string& path : paths) {
    files.push_back(std::filesystem::path(path).filename().string());
    stems.push_back(std::filesystem::path(path).stem().string());
  }
  const std::string extension = std::filesystem::path(files.front()).extension().string();
  const std::size_t beginning = common_beginning(stems);
  if (beginning > 0) {
    const std::string prefix = stems.front().substr(0, beginning);
    for (const std::string& pattern : {"{sample}.{track}" + extension, prefix + "{track}" + extension})
      if (is_sound(pattern, files) &&
          TrackPattern(pattern).match(files.front())->track == stems.front().substr(beginning))
        return pattern;
  }
  const std::size_t ending = common_ending(stems);
  if (ending == 0 || ending >= stems.front().size()) return std::nullopt;
  const std::string& stem = stems.front();
  const std::string suffix = stem.substr(stem.size() - ending);
  for (const std::string& pattern : {"{track}.{sample}" + extension, "{track}" + suffix + extension})
    if (is_sound(pattern, files) &&
        TrackPattern(pattern).match(files.front())->track == stem.substr(0, stem.size() - ending))
      return pattern;
  return std::nullopt;
}

}  // namespace semicrf
