#include "segmentation/label_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "eval/metrics/stretches.h"
#include "io/files/output_names.h"
#include "io/json/json_document.h"
#include "io/text/bedgraph.h"

namespace semicrf {

namespace {

LabelTrack read_label_track(const std::string& path) {
  LabelTrack track;
  BedGraphReader reader(path);
  BedGraphRecord record;
  while (reader.next(record)) {
    if (!(record.value >= 0 && record.value <= 1))
      throw InputError({path, place_of(record), fmt::format("{} is not a probability", record.value),
                        "give label posteriors"});
    track.chromosomes[record.chromosome].push_back({record.begin, record.end, record.value});
  }
  return track;
}

using Steps = std::vector<LabelTrack::Step>;

const Steps& steps_on(const LabelTrack& track, const std::string& chromosome) {
  static const Steps none;
  const auto found = track.chromosomes.find(chromosome);
  return found == track.chromosomes.end() ? none : found->second;
}

void require_shared_chromosome(const std::string& prefix, std::span<const LabelTrack* const> tracks,
                               const SegmentationFile& segmentation) {
  std::string other;  // a chromosome of the posteriors
  for (const LabelTrack* track : tracks)
    for (const auto& [name, steps] : track->chromosomes) {
      if (segmentation.find(name) != nullptr) return;
      other = name;
    }
  throw InputError({prefix, "",
                    "the label posteriors have no chromosome of " + segmentation.path +
                        (other.empty() ? ", and no values" : ", but such as " + other) +
                        "; the segments are on chromosomes such as " + segmentation.chromosomes.front().name,
                    "give the posteriors of the run that made the segments"});
}

// The first step that ends behind the base.
Steps::const_iterator step_behind(const Steps& steps, std::int64_t base) {
  return std::ranges::upper_bound(steps, base, {}, &LabelTrack::Step::end);
}

}  // namespace

const std::string& posterior_file(const Label& label, const std::map<std::string, std::string>& files,
                                  const std::string& prefix) {
  const auto file = files.find(in_file_name(label.name));
  if (file == files.end())
    throw InputError({prefix + "." + in_file_name(label.name) + ".bedgraph", "",
                      "the posterior of the label " + in_quotes(label.name) +
                          " is not there, nor one that ends in .bedgraph.gz or .bw",
                      "write it with posterior --labels-out " + prefix});
  return file->second;
}

double LabelTrack::value_at(const std::string& chromosome, std::int64_t base) const {
  const Steps& steps = steps_on(*this, chromosome);
  const auto step = step_behind(steps, base);
  return step != steps.end() && step->begin <= base ? step->value : 0;
}

std::vector<LabelTrack> read_label_tracks(const std::string& prefix, const SegmentationFile& segmentation) {
  const std::map<std::string, std::string> files = label_track_files(prefix);
  std::vector<LabelTrack> tracks;
  for (const Label& label : segmentation.labels)
    tracks.push_back(read_label_track(posterior_file(label, files, prefix)));
  require_shared_chromosome(prefix, views_of(tracks), segmentation);
  return tracks;
}

std::vector<LabelTrack> read_all_label_tracks(const std::string& prefix, SegmentationFile& segmentation) {
  std::set<std::string> known;
  for (const Label& label : segmentation.labels) known.insert(in_file_name(label.name));
  const std::map<std::string, std::string> files = label_track_files(prefix);
  std::vector<std::string> others;
  for (const auto& [label, path] : files)
    if (!known.contains(label)) others.push_back(label);
  if (others.size() < files.size()) add_labels(segmentation, others);
  return read_label_tracks(prefix, segmentation);
}

double expected_bases(const LabelTrack& track, const std::string& chromosome,
                      const std::vector<BinRange>& ranges) {
  const Steps& steps = steps_on(track, chromosome);
  double sum = 0;
  for_each_overlap(steps, ranges, [&](std::size_t i, std::int64_t bases) {
    sum += steps[i].value * static_cast<double>(bases);
  });
  return sum;
}

std::vector<const LabelTrack*> views_of(const std::vector<LabelTrack>& tracks) {
  std::vector<const LabelTrack*> views;
  for (const LabelTrack& track : tracks) views.push_back(&track);
  return views;
}

double posterior_share(std::span<const LabelTrack* const> tracks, const SegmentationFile& segmentation) {
  double sum = 0;
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes) {
    const std::vector<BinRange> ranges = covered_ranges(chromosome.segments);
    for (const LabelTrack* track : tracks) sum += expected_bases(*track, chromosome.name, ranges);
  }
  return sum / static_cast<double>(segmentation.bases());
}

void visit_probabilities(std::span<const LabelTrack* const> tracks, const std::string& chromosome,
                         std::int64_t begin, std::int64_t end, const ProbabilityVisitor& visit) {
  struct Place {
    Steps::const_iterator at, end;
  };
  std::vector<Place> places;
  for (const LabelTrack* track : tracks) {
    const Steps& steps = steps_on(*track, chromosome);
    places.push_back({step_behind(steps, begin), steps.end()});
  }
  std::vector<double> values(tracks.size());
  while (begin < end) {
    std::int64_t stop = end;
    for (std::size_t i = 0; i < places.size(); ++i) {
      Place& place = places[i];
      while (place.at != place.end && place.at->end <= begin) ++place.at;
      const bool inside = place.at != place.end && place.at->begin <= begin;
      values[i] = inside ? place.at->value : 0;
      if (place.at != place.end) stop = std::min(stop, inside ? place.at->end : place.at->begin);
    }
    visit(begin, stop, values);
    begin = stop;
  }
}

}  // namespace semicrf
