#include "io/text/track_hub.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "core/text/utf8.h"

namespace semicrf {
namespace {

// The value of a setting, which is one line: control characters and what Unicode calls line ends become
// blanks. A backslash at the end of a line would join the next one to it, so that backslashes are written as
// HTML does.
std::string line_text(std::string_view text) {
  constexpr std::array<std::string_view, 3> kLineEnds = {"\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
  std::string line;
  while (!text.empty()) {
    const auto end =
        std::ranges::find_if(kLineEnds, [&](std::string_view one) { return text.starts_with(one); });
    const unsigned char first = text.front();
    if (end != kLineEnds.end() || first < 0x20 || first == 0x7f) {
      line += ' ';
    } else if (first == '\\') {
      line += "&#92;";
    } else {
      line += text.front();
    }
    text.remove_prefix(end == kLineEnds.end() ? 1 : end->size());
  }
  return line;
}

// Browsers put labels into pages: a label has no tags.
std::string label_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '<' || c == '>') {
      result += c == '<' ? "&lt;" : "&gt;";
    } else {
      result += c;
    }
  }
  return result;
}

std::string setting(const std::string& key, const std::string& value, bool is_child = false) {
  return (is_child ? "    " : "") + key + " " + line_text(value) + "\n";
}

const char* view_of(HubTrack::Kind kind) { return kind == HubTrack::Kind::kSegments ? "dense" : "full"; }

// A track's name in the hub: letters, digits and _ only.
std::string track_name(const HubTrack& track, std::size_t place) {
  if (track.kind == HubTrack::Kind::kSegments) return "segments";
  if (track.kind == HubTrack::Kind::kBoundaries) return "boundaries";
  return fmt::format("{}_{}", track.kind == HubTrack::Kind::kSignal ? "signal" : "label", place);
}

constexpr const char* kGroup = "label_posteriors";

std::string segments_settings(const TrackHub& hub) {
  const bool extra = hub.segment_columns > 9;
  return setting("type", extra ? "bigBed 9 +" : "bigBed 9 .") + setting("itemRgb", "on") +
         setting("labelFields", "name") +
         setting("mouseOver", hub.has_label_posterior ? "$name, P(label) $p_label" : "$name");
}

// Probabilities. The highest of a pixel shows a boundary, the mean how much of a label there is.
std::string probability_settings(const HubTrack& track, bool is_child) {
  const bool label = track.kind == HubTrack::Kind::kLabel;
  return setting("type", "bigWig 0 1", is_child) + setting("autoScale", "off", is_child) +
         setting("viewLimits", "0:1", is_child) +
         setting("maxHeightPixels", label ? "100:24:8" : "100:40:8", is_child) +
         setting("windowingFunction", label ? "mean" : "maximum", is_child) +
         setting("color", track.color, is_child);
}

// The values of an input, with a scale of what is seen of them.
std::string signal_settings(const HubTrack& track) {
  return setting("type", "bigWig") + setting("autoScale", "on") + setting("maxHeightPixels", "100:32:8") +
         setting("windowingFunction", "mean") + setting("color", track.color);
}

std::string settings_of(const TrackHub& hub, const HubTrack& track, bool is_child) {
  if (track.kind == HubTrack::Kind::kSegments) return segments_settings(hub);
  if (track.kind == HubTrack::Kind::kSignal) return signal_settings(track);
  return probability_settings(track, is_child);
}

std::string igv_track(const HubTrack& track) {
  const std::string common = "id=\"" + markup_escaped(track.file) + "\" name=\"" +
                             markup_escaped(track.title) + "\" visible=\"true\"";
  // Without a colour of its own the track has those of its segments.
  if (track.kind == HubTrack::Kind::kSegments)
    return "    <Track clazz=\"org.broad.igv.track.FeatureTrack\" " + common +
           " displayMode=\"EXPANDED\"/>\n";
  if (track.kind == HubTrack::Kind::kSignal)
    return fmt::format(
        "    <Track clazz=\"org.broad.igv.track.DataSourceTrack\" {} color=\"{}\" autoScale=\"true\" "
        "height=\"40\" renderer=\"BAR_CHART\" windowFunction=\"mean\"/>\n",
        common, track.color);
  return fmt::format(
      "    <Track clazz=\"org.broad.igv.track.DataSourceTrack\" {} color=\"{}\" autoScale=\"false\" "
      "height=\"40\" renderer=\"BAR_CHART\" windowFunction=\"{}\">\n      <DataRange baseline=\"0.0\" "
      "drawBaseline=\"true\" flipAxis=\"false\" maximum=\"1.0\" minimum=\"0.0\" type=\"LINEAR\"/>\n    "
      "</Track>\n",
      common, track.color, track.kind == HubTrack::Kind::kLabel ? "mean" : "max");
}

}  // namespace

std::string hub_text(const TrackHub& hub) {
  return setting("hub", "semicrf") + setting("shortLabel", label_text(hub.name)) +
         setting("longLabel", label_text(hub.description)) + setting("genomesFile", "genomes.txt") +
         (hub.email.empty() ? "" : setting("email", hub.email));
}

std::string genomes_text(const TrackHub& hub) {
  return setting("genome", hub.genome) + setting("trackDb", "trackDb.txt");
}

std::string track_db_text(const TrackHub& hub) {
  std::string text;
  bool has_group = false;
  for (std::size_t i = 0; i < hub.tracks.size(); ++i) {
    const HubTrack& track = hub.tracks[i];
    const bool is_child = track.kind == HubTrack::Kind::kLabel;
    if (is_child && !has_group)
      text += setting("track", kGroup) + setting("superTrack", "on show") +
              setting("shortLabel", "Label posteriors") +
              setting("longLabel", "Probability of each label at each bin") + "\n";
    has_group = has_group || is_child;
    text += setting("track", track_name(track, i), is_child);
    if (is_child) text += setting("parent", kGroup, true);
    text += setting("shortLabel", label_text(track.title), is_child) +
            setting("longLabel", label_text(track.description), is_child) +
            setting("bigDataUrl", track.file, is_child) +
            setting("visibility", view_of(track.kind), is_child) +
            setting("priority", fmt::to_string(i + 1), is_child);
    text += settings_of(hub, track, is_child) + "\n";
  }
  return text;
}

std::string igv_session_text(const TrackHub& hub) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n<Session genome=\"" +
                     markup_escaped(hub.genome) + "\" locus=\"" + markup_escaped(hub.locus) +
                     "\" version=\"8\">\n  <Resources>\n";
  for (const HubTrack& track : hub.tracks)
    text += fmt::format("    <Resource name=\"{}\" path=\"{}\" type=\"{}\"/>\n", markup_escaped(track.title),
                        markup_escaped(track.file), track.kind == HubTrack::Kind::kSegments ? "bb" : "bw");
  text += "  </Resources>\n  <Panel name=\"DataPanel\">\n";
  for (const HubTrack& track : hub.tracks) text += igv_track(track);
  return text + "  </Panel>\n</Session>\n";
}

}  // namespace semicrf
