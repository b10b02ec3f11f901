#include "segmentation/annotation.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/segments/segment_reader.h"

namespace semicrf {
namespace {

auto order_of(const AnnotatedInterval& interval) {
  return std::tuple(interval.begin, interval.end, interval.reverse);
}

bool is_before(const AnnotatedInterval& a, const AnnotatedInterval& b) { return order_of(a) < order_of(b); }
bool is_same(const AnnotatedInterval& a, const AnnotatedInterval& b) { return order_of(a) == order_of(b); }

// Every interval becomes the one base that `base` says.
template <class Base>
void take_bases(Annotation& annotation, Base base) {
  for (auto& [chromosome, intervals] : annotation.chromosomes) {
    for (AnnotatedInterval& interval : intervals) {
      interval.begin = base(interval);
      interval.end = interval.begin + 1;
    }
    std::ranges::sort(intervals, is_before);
    intervals.erase(std::unique(intervals.begin(), intervals.end(), is_same), intervals.end());
  }
}

std::int64_t middle_of(const AnnotatedInterval& interval) { return (interval.begin + interval.end) / 2; }

// Returns the lengths of chromosomes, where the file has them.
template <class Visit>
std::map<std::string, std::int64_t> for_each_interval(const std::string& path, BedPoints points,
                                                      Visit visit) {
  BedReader reader(path, points);
  BedRecord record;
  while (reader.next(record)) visit(record);
  return reader.lengths();
}

void add_interval(const BedRecord& record, Annotation& annotation) {
  const bool reverse = record.fields.size() >= 6 && record.fields[5] == "-";
  annotation.chromosomes[record.chromosome].push_back({record.begin, record.end, reverse});
  ++annotation.lines;
  if (!record.name.empty() && annotation.names.size() <= kMostAnnotationNames)
    annotation.names.insert(record.name);
}

void sort_intervals(Annotation& annotation) {
  for (auto& [name, found] : annotation.chromosomes)
    if (!std::ranges::is_sorted(found, is_before)) std::ranges::sort(found, is_before);
}

}  // namespace

Annotation read_annotation(const std::string& argument, BedPoints points) {
  std::string path = argument;
  const std::string name = take_file_name(path);
  Annotation annotation;
  annotation.name = name == "-" ? "annotation" : name;
  annotation.lengths =
      for_each_interval(path, points, [&](const BedRecord& record) { add_interval(record, annotation); });
  sort_intervals(annotation);
  return annotation;
}

std::vector<Annotation> read_named_annotations(const std::string& argument, BedPoints points,
                                               bool may_lack_names) {
  std::string path = argument;
  if (may_lack_names && argument != "-") {
    std::vector<Annotation> one{read_annotation(argument, points)};
    if (one.front().names.empty()) return one;
  }
  const std::string name = take_sequence_name(path);
  const std::string before = name.empty() ? "" : name + ":";
  std::map<std::string, Annotation> by_name;
  const std::map<std::string, std::int64_t> lengths =
      for_each_interval(path, points, [&](const BedRecord& record) {
        if (record.name.empty())
          throw InputError({path, place_of(record), "the interval has no name",
                            "give a BED file with names in column 4, or leave --by-name out"});
        Annotation& annotation = by_name[record.name];
        if (annotation.name.empty()) annotation.name = before + record.name;
        add_interval(record, annotation);
      });
  std::vector<Annotation> annotations;
  for (auto& [key, annotation] : by_name) {
    sort_intervals(annotation);
    annotation.lengths = lengths;
    annotations.push_back(std::move(annotation));
  }
  std::ranges::sort(annotations, natural_less, &Annotation::name);
  return annotations;
}

std::string names_text(const Annotation& annotation) {
  const std::size_t names = annotation.names.size();
  // Where nearly every line has a name of its own, it is an identifier.
  if (names < 2 || names > kMostAnnotationNames || annotation.lines < 3 * static_cast<std::int64_t>(names))
    return "";
  return fmt::format("{} names in column 4 ({}) are taken as one annotation; --by-name makes one of each",
                     names, few_of(std::vector(annotation.names.begin(), annotation.names.end()), 3));
}

std::string covers_text(const Annotation& annotation) {
  constexpr double kNearlyAll = 0.9;
  constexpr std::int64_t kFewLines = 5;  // fewer say nothing by their span
  std::int64_t bases = 0, span = 0;
  for (const auto& [chromosome, intervals] : annotation.chromosomes) {
    if (intervals.empty()) continue;
    span += intervals.back().end - intervals.front().begin;
    for (const AnnotatedInterval& interval : intervals) bases += interval.end - interval.begin;
  }
  if (annotation.lines < kFewLines || static_cast<double>(bases) <= kNearlyAll * static_cast<double>(span))
    return "";
  return "it covers " + formatted("%.3g", 100 * static_cast<double>(bases) / static_cast<double>(span)) +
         " % of the bases between its first and last interval, so that the fold says which labels lie there "
         "at all";
}

void merge_overlaps(Annotation& annotation) {
  for (auto& [chromosome, intervals] : annotation.chromosomes) {
    std::size_t kept = 0;
    for (std::size_t i = 1; i < intervals.size(); ++i) {
      if (intervals[i].begin <= intervals[kept].end) {
        intervals[kept].end = std::max(intervals[kept].end, intervals[i].end);
      } else {
        intervals[++kept] = intervals[i];
      }
    }
    if (!intervals.empty()) intervals.resize(kept + 1);
  }
}

void take_centres(Annotation& annotation) {
  for (auto& [chromosome, intervals] : annotation.chromosomes)
    for (AnnotatedInterval& interval : intervals) interval.reverse = false;
  take_bases(annotation, middle_of);
}

void take_anchors(Annotation& annotation, Anchor anchor) {
  take_bases(annotation, [anchor](const AnnotatedInterval& interval) {
    if (anchor == Anchor::kCentre) return middle_of(interval);
    const bool first = (anchor == Anchor::kStart) != interval.reverse;
    return first ? interval.begin : std::max(interval.begin, interval.end - 1);
  });
}

}  // namespace semicrf
