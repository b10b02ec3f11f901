#include "segmentation/label_summary.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text/text.h"
#include "io/json/json_document.h"
#include "io/text/label_track_files.h"
#include "segmentation/segment_counts.h"

namespace semicrf {
namespace {

std::string six_digits(double value) { return formatted("%.6g", value); }

std::string optional_text(const std::optional<double>& value) { return value ? six_digits(*value) : "."; }

// The place of every label of the segmentation in the summary.
std::vector<std::size_t> places_of(const SegmentationFile& segmentation, const Parameters* model,
                                   std::vector<std::string>& names) {
  for (const Label& label : model != nullptr ? model->labels : segmentation.labels)
    names.push_back(label.name);
  std::vector<std::size_t> places;
  const std::vector<char> used = segmentation.used_labels();
  for (std::size_t c = 0; c < segmentation.labels.size(); ++c) {
    const Label& label = segmentation.labels[c];
    auto found = std::ranges::find(names, label.name);
    // A label without segments may have the name of a file of posteriors.
    if (found == names.end() && used[c] == 0)
      found =
          std::ranges::find_if(names, [&](const std::string& n) { return in_file_name(n) == label.name; });
    if (found == names.end())
      throw InputError({segmentation.path, segmentation.first_place(c),
                        "the label " + in_quotes(label.name) + " is not one of the model, which has " +
                            joined(names, ", "),
                        "give the parameters that the segmentation was made with"});
    places.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return places;
}

// By label of the segmentation: sums over the bases of its segments of P(label), and of the entropy.
struct Certainty {
  std::vector<double> posterior, entropy;
};

Certainty certainty_of(const SegmentationFile& segmentation, const std::vector<LabelTrack>& tracks) {
  Certainty sums{std::vector<double>(tracks.size()), std::vector<double>(tracks.size())};
  std::vector<const LabelTrack*> all;
  all.reserve(tracks.size());
  for (const LabelTrack& track : tracks) all.push_back(&track);
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes)
    for (const LabelledSegment& segment : chromosome.segments)
      visit_probabilities(all, chromosome.name, segment.begin, segment.end,
                          [&](std::int64_t begin, std::int64_t end, std::span<const double> values) {
                            const auto bases = static_cast<double>(end - begin);
                            sums.posterior[segment.label] += bases * values[segment.label];
                            for (const double p : values)
                              if (p > 0) sums.entropy[segment.label] -= bases * p * std::log(p);
                          });
  return sums;
}

}  // namespace

std::vector<LabelSummary> summarize(const SegmentationFile& segmentation, const Parameters* model,
                                    const std::vector<LabelTrack>& tracks) {
  std::vector<std::string> names;
  const std::vector<std::size_t> places = places_of(segmentation, model, names);
  const std::int64_t bin_size = model == nullptr ? 1 : model->bin_size;
  SegmentCounts counts(names.size(), model == nullptr ? nullptr : &model->chain);
  std::vector<double> posterior(names.size()), scored(names.size());  // sums over bases
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes) {
    const LabelledSegment* before = nullptr;
    for (const LabelledSegment& segment : chromosome.segments) {
      const std::size_t c = places[segment.label];
      counts.add(c, segment.size(), (segment.size() + bin_size - 1) / bin_size);
      if (segment.score >= 0) {
        const auto bases = static_cast<double>(segment.size());
        posterior[c] += bases * static_cast<double>(segment.score);
        scored[c] += bases;
      }
      if (before != nullptr && before->end == segment.begin) counts.add_transition(places[before->label], c);
      before = &segment;
    }
  }
  std::vector<LabelSummary> summary;
  for (DecodedLabelStats& stats : counts.stats()) {
    const std::size_t c = summary.size();
    LabelSummary& label = summary.emplace_back();
    label.counts = std::move(stats);
    label.counts.name = names[c];
    if (label.counts.segments > 0) label.shortest = counts.shortest(c);
    if (scored[c] > 0) label.posterior = posterior[c] / scored[c];
  }
  if (tracks.empty()) return summary;
  const Certainty sums = certainty_of(segmentation, tracks);
  for (std::size_t c = 0; c < places.size(); ++c) {
    LabelSummary& label = summary[places[c]];
    if (label.counts.bases == 0) continue;
    const auto bases = static_cast<double>(label.counts.bases);
    label.posterior = sums.posterior[c] / bases;
    label.entropy = sums.entropy[c] / bases;
  }
  return summary;
}

std::optional<LengthStats> lengths_of(const SegmentationFile& segmentation) {
  SegmentCounts counts(1, nullptr);
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes)
    for (const LabelledSegment& segment : chromosome.segments) counts.add(0, segment.size(), 0);
  return counts.lengths();
}

std::string summary_text(const std::vector<LabelSummary>& labels) {
  std::string text =
      "label\tsegments\tbases\tshare\tmean\tshortest\tq05\tq25\tmedian\tq75\tq95\tlongest\tposterior\t"
      "at_cap\tin_tail\tentropy\n";
  for (const LabelSummary& label : labels) {
    const DecodedLabelStats& counts = label.counts;
    std::vector<std::string> cells{escape_control(counts.name), std::to_string(counts.segments),
                                   std::to_string(counts.bases), six_digits(counts.share)};
    if (const auto& length = counts.length) {
      cells.push_back(six_digits(length->mean));
      for (const std::int64_t bases : {label.shortest, length->q05, length->q25, length->median, length->q75,
                                       length->q95, length->longest})
        cells.push_back(std::to_string(bases));
    } else {
      cells.resize(cells.size() + 8, ".");
    }
    for (const std::optional<double>& value : {label.posterior, counts.at_cap, counts.in_tail, label.entropy})
      cells.push_back(optional_text(value));
    text += joined(cells, "\t") + "\n";
  }
  return text;
}

std::string transitions_text(const std::vector<LabelSummary>& labels) {
  std::vector<std::string> head{"from"};
  for (const LabelSummary& label : labels) head.push_back(escape_control(label.counts.name));
  std::string text = joined(head, "\t") + "\n";
  for (const LabelSummary& label : labels) {
    std::vector<std::string> cells{escape_control(label.counts.name)};
    for (const std::int64_t count : label.counts.followed_by) cells.push_back(std::to_string(count));
    text += joined(cells, "\t") + "\n";
  }
  return text;
}

}  // namespace semicrf
