#include "segmentation/enrichment.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "eval/metrics/stretches.h"
#include "io/text/chromosomes.h"
#include "segmentation/label_tracks.h"

namespace semicrf {
namespace {

const std::vector<AnnotatedInterval>& intervals_on(const Annotation& annotation,
                                                   const std::string& chromosome) {
  static const std::vector<AnnotatedInterval> none;
  const auto found = annotation.chromosomes.find(chromosome);
  return found == annotation.chromosomes.end() ? none : found->second;
}

// Over the bases within the segments, and over those of them that the annotation has.
void add_expected(const SegmentedChromosome& chromosome, const std::vector<AnnotatedInterval>& intervals,
                  const LabelTrack& track, Overlap& overlap) {
  const std::vector<BinRange> inside = covered_ranges(chromosome.segments);
  std::vector<BinRange> annotated;
  annotated.reserve(intervals.size());
  for (const AnnotatedInterval& interval : intervals) annotated.push_back({interval.begin, interval.end});
  overlap.label += expected_bases(track, chromosome.name, inside);
  overlap.both += expected_bases(track, chromosome.name, common_ranges(inside, annotated));
}

// What both bigBed files say of a chromosome's length, and what intervals say of it.
void check_lengths(const Annotation& annotation, const std::string& argument,
                   const SegmentationFile& segmentation) {
  const std::string advice = "give annotation of the same genome";
  for (const auto& [name, length] : segmentation.lengths) {
    const auto other = annotation.lengths.find(name);
    if (other != annotation.lengths.end() && other->second != length)
      throw InputError(
          {argument, "",
           fmt::format("{} has {} bases, in {} {}", name, other->second, segmentation.path, length), advice});
    for (const AnnotatedInterval& interval : intervals_on(annotation, name))
      if (interval.end > length)
        throw InputError({argument, place_of_bases(name, interval.begin, interval.end),
                          fmt::format("the interval ends beyond the chromosome, which has {} bases in {}",
                                      length, segmentation.path),
                          advice});
  }
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

StatisticList<Overlap> overlap_statistics(std::string_view annotation) {
  using enum StatisticUnit;
  using O = Overlap;
  return in_format<O>("%.10g", {{"label_bases", "", kBases, &O::label},
                                {annotation, "", kBases, &O::annotation},
                                {"both", "", kBases, &O::both},
                                {"all_bases", "", kBases, &O::all},
                                {"fold", "", kNumber, &O::fold}});
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

void require_common_chromosome(std::span<const Annotation> annotations, const std::string& argument,
                               const SegmentationFile& segmentation) {
  const auto has_intervals = [](const Annotation& annotation) { return !annotation.chromosomes.empty(); };
  const auto first = std::ranges::find_if(annotations, has_intervals);
  if (first == annotations.end()) throw InputError({argument, "", "has no intervals", "give a BED file"});
  const auto shares = [&](const Annotation& annotation) {
    return std::ranges::any_of(annotation.chromosomes,
                               [&](const auto& entry) { return segmentation.find(entry.first) != nullptr; });
  };
  if (std::ranges::any_of(annotations, shares)) {
    for (const Annotation& annotation : annotations) check_lengths(annotation, argument, segmentation);
    return;
  }
  throw InputError({argument, "",
                    "has no chromosome of " + segmentation.path + ", but such as " +
                        first->chromosomes.begin()->first + "; the segments are on chromosomes such as " +
                        segmentation.chromosomes.front().name,
                    "give annotation of the same genome; chromosome names must match exactly"});
}

std::vector<Overlap> neighbourhood(const SegmentationFile& segmentation, const Annotation& anchors,
                                   const Surroundings& surroundings, const std::vector<LabelTrack>& tracks) {
  const auto positions = static_cast<std::size_t>(surroundings.positions());
  const std::size_t labels = segmentation.labels.size();
  std::vector<Overlap> found(labels * positions);
  std::vector<double> inside(positions), bases(labels);
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes) {
    for (const LabelledSegment& segment : chromosome.segments)
      if (tracks.empty()) bases[segment.label] += static_cast<double>(segment.size());
    for (std::size_t c = 0; c < tracks.size(); ++c)
      bases[c] += expected_bases(tracks[c], chromosome.name, covered_ranges(chromosome.segments));
    for (const AnnotatedInterval& anchor : intervals_on(anchors, chromosome.name))
      for (std::size_t p = 0; p < positions; ++p) {
        const std::int64_t distance =
            (static_cast<std::int64_t>(p) - surroundings.upstream) * surroundings.step;
        const std::int64_t base = anchor.begin + (anchor.reverse ? -distance : distance);
        const std::optional<std::size_t> label = label_at(chromosome.segments, base);
        if (!label) continue;
        inside[p] += 1;
        if (tracks.empty()) found[*label * positions + p].both += 1;
        for (std::size_t c = 0; c < tracks.size(); ++c)
          found[c * positions + p].both += tracks[c].value_at(chromosome.name, base);
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

void ElsewhereCount::add(const Annotation& annotation, const SegmentationFile& segmentation) {
  constexpr std::size_t kNamed = 5;
  std::size_t all = 0, elsewhere = 0;
  for (const auto& [chromosome, intervals] : annotation.chromosomes) {
    all += intervals.size();
    if (segmentation.find(chromosome) != nullptr) continue;
    elsewhere += intervals.size();
    chromosomes_.insert(chromosome);
  }
  if (elsewhere == 0) return;
  if (++elsewhere_ <= kNamed)
    of_annotation_.push_back(
        fmt::format("{} of {} of {}", elsewhere, plural(all, "interval"), annotation.name));
}

std::optional<Warning> ElsewhereCount::warning() const {
  if (elsewhere_ == 0) return std::nullopt;
  const std::size_t others = elsewhere_ - of_annotation_.size();
  std::vector<std::string> names(chromosomes_.begin(), chromosomes_.end());
  std::ranges::sort(names, natural_less);
  return Warning{"annotation-elsewhere",
                 joined(of_annotation_, ", ") +
                     (others > 0 ? " and some of " + plural(others, "other annotation") : "") +
                     " lie on chromosomes without segments and do not count: " + few_of(names, 5)};
}

Inside inside_segments(const SegmentationFile& segmentation, const Annotation& annotation) {
  Inside inside;
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes) {
    const std::vector<AnnotatedInterval>& intervals = intervals_on(annotation, chromosome.name);
    for (const AnnotatedInterval& interval : intervals)
      inside.bases += static_cast<double>(interval.end - interval.begin);
    for_each_overlap(chromosome.segments, intervals,
                     [&](std::size_t, std::int64_t bases) { inside.within += static_cast<double>(bases); });
  }
  return inside;
}

std::string outside_text(const Annotation& annotation, const SegmentationFile& segmentation) {
  constexpr double kShare = 0.5;
  const Inside inside = inside_segments(segmentation, annotation);
  if (inside.within >= kShare * inside.bases) return {};
  return fmt::format(
      "{} of its {} bases on chromosomes with segments are outside all segments and do not count: is it of "
      "the same genome?",
      std::llround(inside.bases - inside.within), std::llround(inside.bases));
}

}  // namespace semicrf
