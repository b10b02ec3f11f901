#include "io/segments/segmentation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "io/segments/bed_reader.h"
#include "io/text/chromosomes.h"

namespace semicrf {
namespace {

float parse_score(std::string_view text) {
  const int score = number_in<int>(text).value_or(-1);
  return score >= 0 && score <= 1000 ? static_cast<float>(score) / 1000 : -1;
}

// Whether column 5 holds posteriors.
bool has_scores(const SegmentationFile& segmentation) {
  const auto said = segmentation.options.find("score");
  if (said != segmentation.options.end()) return said->second == "posterior";
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes)
    for (const LabelledSegment& segment : chromosome.segments)
      if (segment.score > 0) return true;
  return false;
}

void sort_labels(SegmentationFile& segmentation) {
  const std::vector<std::size_t> ranks = natural_ranks(names_of(segmentation.labels));
  std::vector<Label> sorted(ranks.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) sorted[ranks[i]] = segmentation.labels[i];
  segmentation.labels = std::move(sorted);
  for (SegmentedChromosome& chromosome : segmentation.chromosomes)
    for (LabelledSegment& segment : chromosome.segments)
      segment.label = static_cast<std::uint32_t>(ranks[segment.label]);
}

class SegmentationReader {
 public:
  explicit SegmentationReader(const std::string& path) { found_.path = path; }

  SegmentationFile read() {
    BedReader reader(found_.path);
    BedRecord record;
    while (reader.next(record)) add(record);
    found_.lengths = reader.lengths();
    found_.options = reader.options();
    if (found_.chromosomes.empty())
      throw InputError({found_.path, "", "has no segments", "give a BED file with labels in column 4"});
    if (!has_scores(found_))
      for (SegmentedChromosome& chromosome : found_.chromosomes)
        for (LabelledSegment& segment : chromosome.segments) segment.score = -1;
    sort_labels(found_);
    return std::move(found_);
  }

 private:
  [[noreturn]] void fail(const BedRecord& record, const std::string& what, const std::string& advice) const {
    throw InputError({found_.path, place_of(record), what, advice});
  }

  void add(const BedRecord& record) {
    if (record.name.empty())
      fail(record, "the segment has no label", "give a BED file with labels in column 4");
    if (found_.chromosomes.empty() || record.chromosome != found_.chromosomes.back().name) {
      if (!found_.places.emplace(record.chromosome, found_.chromosomes.size()).second)
        fail(record, "segments of " + in_quotes(record.chromosome) + " are in two places of the file",
             "sort it by chromosome and position");
      found_.chromosomes.push_back({record.chromosome, {}});
    }
    std::vector<LabelledSegment>& segments = found_.chromosomes.back().segments;
    if (!segments.empty() && record.begin < segments.back().end)
      fail(record, "the segment begins before the one above it ends",
           "sort the file; segments must not overlap");
    const auto [label, is_new] =
        index_.emplace(record.name, static_cast<std::uint32_t>(found_.labels.size()));
    if (is_new) {
      check_label_count(index_.size(), found_.path, place_of(record));
      found_.labels.push_back({record.name, std::nullopt});
    }
    Label& known = found_.labels[label->second];
    if (!known.color) known.color = item_color(record);
    const float score = record.fields.size() >= 5 ? parse_score(record.fields[4]) : -1;
    segments.push_back({record.begin, record.end, label->second,
                        record.is_text ? static_cast<std::uint32_t>(record.line) : 0, score});
  }

  SegmentationFile found_;
  std::unordered_map<std::string, std::uint32_t> index_;
};

void check_begin(const SegmentationFile& found, const SegmentedChromosome& chromosome,
                 const LabelledSegment& segment, std::int64_t bin_size) {
  if (segment.begin % bin_size == 0) return;
  throw InputError({found.path, found.place_of(chromosome, segment),
                    fmt::format("the segment does not begin on a bin of {} bases, but at base {}", bin_size,
                                segment.begin),
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
    places.push_back(known - labels.begin());
  }
  return places;
}

}  // namespace

const SegmentedChromosome* SegmentationFile::find(const std::string& chromosome) const {
  const auto found = places.find(chromosome);
  return found == places.end() ? nullptr : &chromosomes[found->second];
}

std::string SegmentationFile::place_of(const SegmentedChromosome& chromosome,
                                       const LabelledSegment& segment) const {
  if (segment.line > 0) return fmt::format("line {}", segment.line);
  return place_of_bases(chromosome.name, segment.begin, segment.end);
}

std::string SegmentationFile::first_place(std::size_t label) const {
  for (const SegmentedChromosome& chromosome : chromosomes)
    for (const LabelledSegment& segment : chromosome.segments)
      if (segment.label == label) return place_of(chromosome, segment);
  return {};
}

std::vector<char> SegmentationFile::used_labels() const {
  std::vector<char> used(labels.size(), 0);
  for (const SegmentedChromosome& chromosome : chromosomes)
    for (const LabelledSegment& segment : chromosome.segments) used[segment.label] = 1;
  return used;
}

std::int64_t SegmentationFile::bases() const {
  std::int64_t sum = 0;
  for (const SegmentedChromosome& chromosome : chromosomes)
    for (const LabelledSegment& segment : chromosome.segments) sum += segment.size();
  return sum;
}

void add_labels(SegmentationFile& segmentation, const std::vector<std::string>& names) {
  for (const std::string& name : names) segmentation.labels.push_back({name, std::nullopt});
  sort_labels(segmentation);
}

SegmentationFile read_segmentation(const std::string& path) { return SegmentationReader(path).read(); }

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
