#include "report/data/basis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "core/error.h"
#include "core/text/names.h"
#include "core/text/text.h"
#include "draw/scale.h"
#include "eval/metrics/stretches.h"
#include "inputs/arguments/input_arguments.h"
#include "io/json/json_document.h"
#include "io/text/bedgraph.h"
#include "io/text/palette.h"
#include "model/scores/feature_transform.h"

namespace semicrf {

namespace {

void open_tracks(const ReportOptions& options, ReportBasis& basis) {
  const Parameters& model = basis.model();
  InputOptions input = options.input;
  input.regions.clear();
  input.regions_file.clear();
  basis.inputs.emplace(InputSet::open(input, raw_parameters(model), RowFeatures::kInputs));
  basis.file.parameters.bin_size = basis.inputs->bin_size();
  basis.tracks_are_scores = !model.emission;
  if (basis.tracks_are_scores) {
    for (const Label& label : model.labels) basis.tracks.push_back(label.name);
    return;
  }
  NameIndex lacking;
  for (const LackingTrack& track : basis.inputs->lacking_tracks()) lacking.add(track.track);
  for (const Track& track : model.tracks)
    if (track.is_input() && !lacking.contains(track.name)) basis.tracks.push_back(track.name);
}

// The labels of the model in the place of those of the file.
void align_labels(ReportBasis& basis) {
  const std::vector<Label>& known = basis.model().labels;
  const NameIndex index = NameIndex::of(known);
  std::vector<std::uint32_t> places;
  std::vector<Label> labels = known;
  for (const Label& label : basis.segmentation.labels) {
    const auto place = static_cast<std::uint32_t>(*index.find(label.name));  // summarize() has refused others
    places.push_back(place);
    if (!labels[place].color) labels[place].color = label.color;
  }
  for (SegmentedChromosome& chromosome : basis.segmentation.chromosomes)
    for (LabelledSegment& segment : chromosome.segments) segment.label = places[segment.label];
  basis.segmentation.labels = known;
  basis.colors = label_colors(labels);
}

void list_parts(ReportBasis& basis) {
  if (basis.inputs) {
    for (const Sequence& sequence : basis.inputs->sequences())
      basis.parts.push_back(
          {sequence.title, sequence.chromosome, sequence.origin, sequence.length, sequence.bins, {}, {}});
    return;
  }
  for (const SegmentedChromosome& chromosome : basis.segmentation.chromosomes) {
    const std::int64_t length = chromosome.segments.back().end;
    basis.parts.push_back(
        {chromosome.name, chromosome.name, 0, length, count_bins(length, basis.bin_size()), {}, {}});
  }
}

// Segments must lie on what the tracks have.
void check_places(const ReportBasis& basis) {
  const std::string& path = basis.segmentation.path;
  std::vector<std::string> known;
  std::map<std::string, std::int64_t> ends;  // bases of the tracks, by chromosome
  for (const Part& part : basis.parts) {
    if (known.empty() || known.back() != part.chromosome) known.push_back(part.chromosome);
    std::int64_t& end = ends.emplace(part.chromosome, 0).first->second;
    end = std::max(end, part.origin + part.length);
  }
  for (const SegmentedChromosome& chromosome : basis.segmentation.chromosomes) {
    const auto found = ends.find(chromosome.name);
    const std::int64_t end = found == ends.end() ? -1 : found->second;
    const LabelledSegment& last = chromosome.segments.back();
    if (end < 0)
      throw InputError({path, basis.segmentation.place_of(chromosome, chromosome.segments.front()),
                        "there are segments on " + in_quotes(chromosome.name) + ", and the tracks have " +
                            few_names(known),
                        "give the segments and the tracks of one genome; names must match exactly"});
    if (last.end > end)
      throw InputError({path, basis.segmentation.place_of(chromosome, last),
                        fmt::format("the segment ends at {}, and {} of the tracks at {}", last.end,
                                    in_quotes(chromosome.name), end),
                        "give the segments and the tracks of one genome"});
  }
}

void lay_on_bins(ReportBasis& basis) {
  for (Part& part : basis.parts) {
    const SegmentedChromosome* chromosome = basis.segmentation.find(part.chromosome);
    if (chromosome == nullptr) continue;
    std::vector<Segment> segments;
    for (const LabelledSegment& segment : chromosome->segments)
      segments.push_back({segment.begin, segment.end, static_cast<int>(segment.label)});
    part.segments =
        bin_segments(segments, {part.origin, basis.bin_size(), part.origin + part.length}).segments;
    std::size_t i = 0;
    for (const Segment& segment : part.segments) {
      const std::int64_t middle = part.origin + (segment.begin + segment.end) * basis.bin_size() /
                                                    2;  // inside of its line, but for ties
      while (i + 1 < chromosome->segments.size() && chromosome->segments[i].end <= middle) ++i;
      part.scores.push_back(chromosome->segments[i].score);
    }
  }
}

}  // namespace

ReportBasis read_basis(const ReportOptions& options) {
  ReportBasis basis;
  basis.file = read_params_json(options.input.parameters);
  if (options.input.bin_size && basis.model().bin_size_given && *options.input.bin_size != basis.bin_size())
    throw UsageError(fmt::format("--bin-size {} differs from bin_size of {}, {}", *options.input.bin_size,
                                 options.input.parameters, basis.bin_size()),
                     "leave --bin-size out");
  if (options.input.bin_size) basis.file.parameters.bin_size = *options.input.bin_size;
  basis.segmentation = read_segmentation(options.segments);
  if (has_inputs(options.input)) open_tracks(options, basis);
  basis.labels = summarize(basis.segmentation, &basis.model());
  align_labels(basis);
  list_parts(basis);
  check_places(basis);
  lay_on_bins(basis);
  return basis;
}

namespace {

class Reading {
 public:
  Reading(const std::string& path, const ReportBasis& basis)
      : path_(path), basis_(basis), values_(basis.parts.size()) {}

  BinValues read() {
    BedGraphReader reader(path_);
    BedGraphRecord record;
    std::map<std::string, std::vector<std::size_t>> parts_of;
    for (std::size_t i = 0; i < basis_.parts.size(); ++i) parts_of[basis_.parts[i].chromosome].push_back(i);
    std::vector<std::size_t> parts;  // parts of the chromosome
    while (reader.next(record)) {
      if (chromosomes_.empty()) check_header(reader);
      if (chromosomes_.empty() || chromosomes_.back() != record.chromosome) {
        chromosomes_.push_back(record.chromosome);
        parts = parts_of[record.chromosome];
      }
      if (!(record.value >= 0 && record.value <= 1))
        throw InputError(
            {path_, place_of(record),
             "the value " + short_number(record.value) + " is not a probability: it must be between 0 and 1",
             "give posteriors that semicrf posterior or decode --posterior wrote"});
      for (const std::size_t part : parts) add(record, part);
    }
    if (std::ranges::all_of(values_, [](const std::vector<float>& part) { return part.empty(); }))
      refuse_nothing();
    return std::move(values_);
  }

 private:
  void check_header(const BedGraphReader& reader) const {
    if (reader.options().contains("min-posterior"))
      throw InputError({path_, "",
                        "was written with --min-posterior, so that small probabilities are missing",
                        "write it again without this option"});
    const std::optional<std::int64_t> bin_size = reader.bin_size();
    if (bin_size && *bin_size != basis_.bin_size())
      throw InputError({path_, "",
                        "its header says bins of " + amount(*bin_size) + ", and the model has bins of " +
                            amount(basis_.bin_size()),
                        "give files of one run"});
  }

  void add(const BedGraphRecord& record, std::size_t index) {
    const Part& part = basis_.parts[index];
    const std::int64_t begin = std::max(record.begin, part.origin) - part.origin;
    const std::int64_t end = std::min(record.end, part.origin + part.length) - part.origin;
    if (begin >= end) return;
    if (begin % basis_.bin_size() != 0 || (end % basis_.bin_size() != 0 && end != part.length))
      throw InputError({path_, place_of(record),
                        "begins or ends inside of a bin of " + amount(basis_.bin_size()),
                        "give posteriors of this model"});
    std::vector<float>& values = values_[index];
    if (values.empty()) values.assign(part.bins, std::numeric_limits<float>::quiet_NaN());
    std::fill(values.begin() + begin / basis_.bin_size(), values.begin() + count_bins(end, basis_.bin_size()),
              static_cast<float>(record.value));
  }

  [[noreturn]] void refuse_nothing() const {
    throw InputError({path_, "",
                      "no chromosome in common with the segments: it has " +
                          (chromosomes_.empty() ? "no line" : few_names(chromosomes_)) +
                          ", the segments have " + few_names(names_of(basis_.segmentation.chromosomes)),
                      "give posteriors of the same genome; chromosome names must match exactly"});
  }

  const std::string& path_;
  const ReportBasis& basis_;
  BinValues values_;
  std::vector<std::string> chromosomes_;  // chromosomes of the file
};

}  // namespace

BinValues read_bin_values(const std::string& path, const ReportBasis& basis) {
  return Reading(path, basis).read();
}

}  // namespace semicrf
