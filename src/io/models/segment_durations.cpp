#include "io/models/segment_durations.h"

#include <algorithm>

#include "core/error.h"
#include "io/json/json_document.h"
#include "io/segments/segmentation.h"

namespace semicrf {
namespace {

void check_begin(const SegmentationFile& found, const SegmentedChromosome& chromosome,
                 const LabelledSegment& segment, std::int64_t bin_size) {
  if (segment.begin % bin_size == 0) return;
  throw InputError({found.path, found.place_of(chromosome, segment),
                    "the segment does not begin on a bin of " + std::to_string(bin_size) +
                        " bases, but at base " + std::to_string(segment.begin),
                    "give the bin size of the segmentation with -b"});
}

// The place of each label of the segmentation among the labels of the model.
std::vector<std::size_t> places_in(const SegmentationFile& found, const std::vector<Label>& labels) {
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < found.labels.size(); ++c) {
    const Label& label = found.labels[c];
    const auto known = std::ranges::find(labels, label.name, &Label::name);
    if (known == labels.end())
      throw InputError({found.path, found.first_place(c),
                        in_quotes(label.name) + " is not a state of the model",
                        "its states are named " + labels.front().name + " to " + labels.back().name +
                            " in column 4; give a segmentation made with the model"});
    places.push_back(static_cast<std::size_t>(known - labels.begin()));
  }
  return places;
}

}  // namespace

SegmentDurations read_segment_durations(const std::string& path, const std::vector<Label>& labels,
                                        std::int64_t bin_size) {
  const SegmentationFile found = read_segmentation(path);
  const std::vector<std::size_t> places = places_in(found, labels);
  SegmentDurations durations;
  durations.seen.resize(labels.size());
  durations.color.resize(labels.size());
  for (std::size_t c = 0; c < places.size(); ++c) durations.color[places[c]] = found.labels[c].color;
  for (const SegmentedChromosome& chromosome : found.chromosomes) {
    const std::vector<LabelledSegment>& segments = chromosome.segments;
    for (std::size_t i = 0; i < segments.size();) {
      const std::int64_t begin = segments[i].begin;
      std::size_t next = i;
      do {
        check_begin(found, chromosome, segments[next], bin_size);
        ++next;
      } while (next < segments.size() && segments[next].label == segments[i].label &&
               segments[next].begin == segments[next - 1].end);
      durations.seen[places[segments[i].label]].push_back((segments[next - 1].end - begin + bin_size - 1) /
                                                          bin_size);
      i = next;
    }
  }
  return durations;
}

}  // namespace semicrf
