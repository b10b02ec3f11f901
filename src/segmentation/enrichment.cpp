#include "segmentation/enrichment.h"

#include <algorithm>
#include <map>

#include "core/error.h"
#include "eval/stretches.h"
#include "io/json/json_document.h"
#include "io/text/label_track_files.h"
#include "io/text/value_reader.h"

namespace semicrf {
namespace {

LabelTrack read_label_track(const std::string& path) {
  LabelTrack track;
  ValueReader reader(path);
  BedGraphRecord record;
  while (reader.next(record)) {
    if (!(record.value >= 0 && record.value <= 1))
      throw InputError({path, place_of(record), std::to_string(record.value) + " is no probability",
                        "give label posteriors"});
    track.chromosomes[record.chromosome].push_back({record.begin, record.end, record.value});
  }
  return track;
}

std::int64_t common(std::int64_t begin, std::int64_t end, std::int64_t other_begin, std::int64_t other_end) {
  return std::max<std::int64_t>(0, std::min(end, other_end) - std::max(begin, other_begin));
}

// Calls visit(index of a piece, bases in common) for every piece of a sorted list that overlaps one of the
// sorted intervals.
template <class Piece, class Interval, class Visit>
void for_each_overlap(const std::vector<Piece>& pieces, const std::vector<Interval>& intervals, Visit visit) {
  std::size_t first = 0;
  for (const Interval& interval : intervals) {
    while (first < pieces.size() && pieces[first].end <= interval.begin) ++first;
    for (std::size_t i = first; i < pieces.size() && pieces[i].begin < interval.end; ++i)
      visit(i, common(pieces[i].begin, pieces[i].end, interval.begin, interval.end));
  }
}

const std::vector<AnnotatedInterval>& intervals_on(const Annotation& annotation,
                                                   const std::string& chromosome) {
  static const std::vector<AnnotatedInterval> none;
  const auto found = annotation.chromosomes.find(chromosome);
  return found == annotation.chromosomes.end() ? none : found->second;
}

// The parts of segments, touching ones as one.
std::vector<BinRange> covered(const SegmentedChromosome& chromosome) {
  std::vector<BinRange> runs;
  for (const LabelledSegment& segment : chromosome.segments) {
    if (!runs.empty() && runs.back().end == segment.begin) {
      runs.back().end = segment.end;
    } else {
      runs.push_back({segment.begin, segment.end});
    }
  }
  return runs;
}

// Sums of P(label) within the segments: over all their bases, and over those of the annotation.
void add_expected(const SegmentedChromosome& chromosome, const std::vector<AnnotatedInterval>& intervals,
                  const LabelTrack& track, Overlap& overlap) {
  const auto steps = track.chromosomes.find(chromosome.name);
  if (steps == track.chromosomes.end()) return;
  const std::vector<BinRange> inside = covered(chromosome);
  std::vector<BinRange> annotated;
  for (const AnnotatedInterval& interval : intervals) annotated.push_back({interval.begin, interval.end});
  for_each_overlap(steps->second, inside, [&](std::size_t i, std::int64_t bases) {
    overlap.label += steps->second[i].value * static_cast<double>(bases);
  });
  for_each_overlap(steps->second, common_ranges(inside, annotated), [&](std::size_t i, std::int64_t bases) {
    overlap.both += steps->second[i].value * static_cast<double>(bases);
  });
}

// The label at a base, or nothing.
std::optional<std::size_t> label_at(const std::vector<LabelledSegment>& segments, std::int64_t base) {
  const auto after = std::ranges::upper_bound(segments, base, {}, &LabelledSegment::begin);
  if (after == segments.begin()) return std::nullopt;
  const LabelledSegment& segment = *std::prev(after);
  if (base >= segment.end) return std::nullopt;
  return segment.label;
}

}  // namespace

std::vector<LabelTrack> read_label_tracks(const std::string& prefix, const SegmentationFile& segmentation) {
  const std::map<std::string, std::string> files = label_track_files(prefix);
  std::vector<LabelTrack> tracks;
  for (const Label& label : segmentation.labels) {
    const auto file = files.find(in_file_name(label.name));
    if (file == files.end())
      throw InputError({prefix + "." + in_file_name(label.name) + ".bedgraph", "",
                        "the posterior of the label " + in_quotes(label.name) + " is not there",
                        "write it with posterior --labels-out " + prefix});
    tracks.push_back(read_label_track(file->second));
  }
  return tracks;
}

std::optional<double> Overlap::fold() const {
  if (!(label > 0) || !(annotation > 0)) return std::nullopt;
  return both / label / (annotation / all);
}

std::vector<Overlap> overlaps(const SegmentationFile& segmentation, const Annotation& annotation,
                              const std::vector<LabelTrack>& tracks) {
  std::vector<Overlap> found(segmentation.labels.size());
  double inside = 0;  // bases of the annotation within segments
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes) {
    const std::vector<AnnotatedInterval>& intervals = intervals_on(annotation, chromosome.name);
    for_each_overlap(chromosome.segments, intervals, [&](std::size_t i, std::int64_t bases) {
      inside += static_cast<double>(bases);
      if (tracks.empty()) found[chromosome.segments[i].label].both += static_cast<double>(bases);
    });
    for (const LabelledSegment& segment : chromosome.segments)
      if (tracks.empty()) found[segment.label].label += static_cast<double>(segment.size());
    for (std::size_t c = 0; c < tracks.size(); ++c) add_expected(chromosome, intervals, tracks[c], found[c]);
  }
  const auto all = static_cast<double>(segmentation.bases());
  for (Overlap& overlap : found) {
    overlap.annotation = inside;
    overlap.all = all;
  }
  return found;
}

void require_common_chromosome(const Annotation& annotation, const std::string& argument,
                               const SegmentationFile& segmentation) {
  if (annotation.chromosomes.empty()) throw InputError({argument, "", "has no intervals", "give a BED file"});
  const bool shared = std::ranges::any_of(
      annotation.chromosomes, [&](const auto& entry) { return segmentation.find(entry.first) != nullptr; });
  if (shared) return;
  throw InputError({argument, "",
                    "has no chromosome of " + segmentation.path + ", but such as " +
                        annotation.chromosomes.begin()->first + "; the segments are on chromosomes such as " +
                        segmentation.chromosomes.front().name,
                    "give annotation of the same genome; chromosome names must match exactly"});
}

std::vector<Overlap> neighbourhood(const SegmentationFile& segmentation, const Annotation& anchors,
                                   const Surroundings& surroundings) {
  const auto positions = static_cast<std::size_t>(surroundings.positions());
  const std::size_t labels = segmentation.labels.size();
  std::vector<Overlap> found(labels * positions);
  std::vector<double> inside(positions), bases(labels);
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes) {
    for (const LabelledSegment& segment : chromosome.segments)
      bases[segment.label] += static_cast<double>(segment.size());
    for (const AnnotatedInterval& anchor : intervals_on(anchors, chromosome.name))
      for (std::size_t p = 0; p < positions; ++p) {
        const std::int64_t distance =
            (static_cast<std::int64_t>(p) - surroundings.upstream) * surroundings.step;
        const std::optional<std::size_t> label =
            label_at(chromosome.segments, anchor.begin + (anchor.reverse ? -distance : distance));
        if (!label) continue;
        inside[p] += 1;
        found[*label * positions + p].both += 1;
      }
  }
  const auto all = static_cast<double>(segmentation.bases());
  for (std::size_t c = 0; c < labels; ++c)
    for (std::size_t p = 0; p < positions; ++p) {
      Overlap& overlap = found[c * positions + p];
      overlap.label = bases[c];
      overlap.annotation = inside[p];
      overlap.all = all;
    }
  return found;
}

}  // namespace semicrf
