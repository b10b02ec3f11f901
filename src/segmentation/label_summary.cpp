#include "segmentation/label_summary.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/text/text.h"
#include "io/files/output_names.h"
#include "io/json/json_document.h"
#include "segmentation/segment_counts.h"

namespace semicrf {
namespace {

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

std::vector<DecodedLabelStats> summarize(const SegmentationFile& segmentation, const Parameters* model,
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
  std::vector<DecodedLabelStats> summary = counts.stats();
  for (std::size_t c = 0; c < summary.size(); ++c) {
    summary[c].name = names[c];
    if (scored[c] > 0) summary[c].posterior = posterior[c] / scored[c];
  }
  if (tracks.empty()) return summary;
  const Certainty sums = certainty_of(segmentation, tracks);
  for (std::size_t c = 0; c < places.size(); ++c) {
    DecodedLabelStats& label = summary[places[c]];
    if (label.bases == 0) continue;
    const auto bases = static_cast<double>(label.bases);
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

std::string summary_text(const std::vector<DecodedLabelStats>& labels) {
  std::string text = "label";
  for (const auto& column : label_statistics()) text.append("\t").append(column.name);
  text += "\n";
  for (const DecodedLabelStats& label : labels) {
    text += escape_control(label.name);
    for (const auto& column : label_statistics())
      text.append("\t").append(statistic_text(column.value(label), "%.6g", "."));
    text += "\n";
  }
  return text;
}

std::string transitions_text(const std::vector<DecodedLabelStats>& labels) {
  std::vector<std::string> head{"from"};
  for (const DecodedLabelStats& label : labels) head.push_back(escape_control(label.name));
  std::string text = joined(head, "\t") + "\n";
  for (const DecodedLabelStats& label : labels) {
    std::vector<std::string> cells{escape_control(label.name)};
    for (const std::int64_t count : label.followed_by) cells.push_back(std::to_string(count));
    text += joined(cells, "\t") + "\n";
  }
  return text;
}

}  // namespace semicrf
