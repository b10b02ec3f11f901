#include "apps/commands/genes/track_arguments.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"

namespace semicrf {
namespace {

struct NamedFile {
  std::string name, file;
  char strand = '.';
};

NamedFile parse(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos || equals == 0 || equals + 1 == text.size())
    throw UsageError("--track " + text + ": expected NAME=FILE, NAME+=FILE or NAME-=FILE");
  NamedFile track{text.substr(0, equals), text.substr(equals + 1)};
  if (track.name.size() > 1 && (track.name.back() == '+' || track.name.back() == '-')) {
    track.strand = track.name.back();
    track.name.pop_back();
  }
  return track;
}

std::vector<BigWigTrack> tracks_of(const std::vector<std::string>& texts) {
  std::vector<BigWigTrack> tracks;
  const auto put = [&](std::string& place, const NamedFile& track) {
    if (!place.empty()) throw UsageError("--track " + track.name + ": given twice for one strand");
    place = track.file;
  };
  for (const std::string& text : texts) {
    const NamedFile track = parse(text);
    auto known = std::find_if(tracks.begin(), tracks.end(),
                              [&](const BigWigTrack& one) { return one.name == track.name; });
    if (known == tracks.end()) known = tracks.insert(tracks.end(), {track.name, "", ""});
    if (track.strand != '-') put(known->plus, track);
    if (track.strand != '+') put(known->minus, track);
  }
  for (const BigWigTrack& one : tracks)
    if (one.plus.empty() || one.minus.empty())
      throw UsageError("--track " + one.name + ": no file for strand " + (one.plus.empty() ? "+" : "-"));
  return tracks;
}

}  // namespace

std::vector<std::string> TrackArguments::files() const {
  std::vector<std::string> files = helixer;
  if (!arrays.empty()) files.push_back(arrays);
  for (const std::string& text : bigwigs) files.push_back(parse(text).file);
  return files;
}

std::unique_ptr<TrackFile> TrackArguments::open() const {
  std::error_code ignored;
  if (!arrays.empty() && std::filesystem::is_directory(arrays, ignored)) return open_zarr_tracks(arrays);
  if (!arrays.empty()) return open_array_tracks(arrays);
  if (!bigwigs.empty()) return open_bigwig_tracks(tracks_of(bigwigs));
  if (!helixer.empty()) return open_helixer_tracks(helixer[0], helixer[1]);
  return nullptr;
}

void add_track_options(CLI::App& command, TrackArguments& arguments) {
  CLI::Option* arrays = command.add_option("--tracks", arguments.arrays,
                                           "what a network says of every base: NPZ file or Zarr folder with "
                                           "arrays NAME+ and NAME- of shape (bases, "
                                           "tracks), or the folder that GeneCAD predicted to");
  CLI::Option* bigwigs =
      command
          .add_option(
              "--track", arguments.bigwigs,
              "the same, NAME=FILE with a bigWig file for each track; NAME+=FILE and NAME-=FILE for the "
              "strands")
          ->take_all();
  CLI::Option* helixer =
      command
          .add_option("--helixer", arguments.helixer,
                      "the same, the two files of Helixer: its predictions and its input, HDF5")
          ->expected(2);
  bigwigs->excludes(arrays);
  helixer->excludes(arrays)->excludes(bigwigs);
}

}  // namespace semicrf
