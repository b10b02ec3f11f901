#include "outputs/folders/hub_outputs.h"

#include <fmt/format.h>

#include <algorithm>

#include "io/files/mapped_file.h"
#include "io/files/output_file.h"
#include "io/text/palette.h"
#include "io/text/track_hub.h"

namespace semicrf {
namespace {
constexpr std::size_t kHubBedColumns = 9;
constexpr const char* kBoundaryColor = "64,64,64";
constexpr const char* kSignalColor = "80,100,140";

// Names of files are parts of addresses, where most characters beside these mean something.
bool is_plain(const std::string& name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  });
}

std::string label_file(const std::string& label, std::size_t place) {
  return is_plain(label) ? "labels." + label + ".bw" : fmt::format("label_{}.bw", place + 1);
}

std::string signal_file(const std::string& name, std::size_t place) {
  return is_plain(name) ? "signal." + name + ".bw" : fmt::format("signal_{}.bw", place + 1);
}

// Writes the bytes of a file when the run ends, a slice at a time.
class CopySink : public OutputSink {
 public:
  CopySink(OutputFile& file, std::string source) : file_(file), source_(std::move(source)) {}
  void finish() override {
    constexpr std::size_t kSlice = std::size_t{1} << 20;
    const MappedFile source(source_);
    for (std::size_t at = 0; at < source.size(); at += kSlice) {
      const std::span<const std::uint8_t> slice =
          source.bytes().subspan(at, std::min(kSlice, source.size() - at));
      file_.write({reinterpret_cast<const char*>(slice.data()), slice.size()});
      source.require_unchanged();
    }
  }

 private:
  OutputFile& file_;
  std::string source_;
};

PlannedOutput copy_output(const std::string& path, const std::string& source) {
  return {{path, IndexKind::kNone}, "", 1, [source](OutputFile& opened) {
            return std::make_unique<CopySink>(opened, source);
          }};
}
}  // namespace

void add_hub(const HubFiles& files, OutputPlan& plan) {
  const std::vector<Label>& labels = files.segments.labels;
  const std::vector<std::string> colors = color_columns(labels);
  const auto in_folder = [&](const std::string& name) { return files.options.folder + "/" + name; };
  TrackHub hub;
  hub.name = files.options.name;
  hub.genome = files.options.genome;
  hub.email = files.options.email;
  hub.description = files.description;
  if (!files.segments.chromosomes.empty()) hub.locus = files.segments.chromosomes.list().front().name;
  const PosteriorColumns& support = files.segments.support;
  hub.segment_columns =
      kHubBedColumns + (support.label ? 1 : 0) + (support.segment ? 1 : 0) + (support.edges ? 2 : 0);
  hub.has_label_posterior = support.label;
  hub.tracks.push_back({HubTrack::Kind::kSegments, "segments.bb", "Segments",
                        "Segments, in the colours of their labels", "0,0,0"});
  hub.tracks.push_back({HubTrack::Kind::kBoundaries, "boundaries.bw", "Boundaries",
                        "Probability that a segment starts at a bin", kBoundaryColor});
  for (std::size_t i = 0; i < files.signals.size(); ++i) {
    const HubSignal& signal = files.signals[i];
    const std::string file = signal_file(signal.name, i);
    hub.tracks.push_back(
        {HubTrack::Kind::kSignal, file, signal.name, "Input track " + signal.name, kSignalColor});
    plan.push_back(copy_output(in_folder(file), signal.path));
  }
  for (std::size_t i = 0; i < labels.size(); ++i)
    hub.tracks.push_back({HubTrack::Kind::kLabel, label_file(labels[i].name, i), labels[i].name,
                          "Probability of " + labels[i].name, colors[i]});

  SegmentOutput segments = files.segments;
  segments.file = {in_folder("segments.bb"), IndexKind::kNone};
  plan.push_back(segment_output(segments));
  TrackOutput track = files.track;
  track.file = {in_folder("boundaries.bw"), IndexKind::kNone};
  plan.push_back(track_output(track));
  track.num_labels = labels.size();
  for (std::size_t i = 0; i < labels.size(); ++i) {
    track.label = i;
    track.file.path = in_folder(label_file(labels[i].name, i));
    plan.push_back(track_output(track));
  }
  plan.push_back(text_output(in_folder("trackDb.txt"), track_db_text(hub)));
  plan.push_back(text_output(in_folder("genomes.txt"), genomes_text(hub)));
  plan.push_back(text_output(in_folder("igv_session.xml"), igv_session_text(hub)));
  plan.push_back(text_output(in_folder("hub.txt"), hub_text(hub)));
}

}  // namespace semicrf
