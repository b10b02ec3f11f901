#include "segmentation/segment_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/counts.h"
#include "core/error.h"
#include "core/text/text.h"
#include "io/files/output_names.h"
#include "io/json/json_document.h"

namespace semicrf {

namespace {

using Lengths = std::map<std::int64_t, std::int64_t>;  // bases: segments

// The smallest length that a share of the segments does not exceed.
std::int64_t length_quantile(const Lengths& lengths, std::int64_t segments, double share) {
  const auto wanted =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(share * static_cast<double>(segments))));
  std::int64_t seen = 0;
  for (const auto& [length, count] : lengths)
    if ((seen += count) >= wanted) return length;
  return lengths.rbegin()->first;
}

// Statistics of the lengths of at least one segment.
LengthStats length_stats(const Lengths& lengths, std::int64_t segments, std::int64_t bases) {
  const auto quantile = [&](double share) { return length_quantile(lengths, segments, share); };
  return {ratio(bases, segments), lengths.begin()->first, quantile(0.05), quantile(0.25),
          quantile(0.5),          quantile(0.75),         quantile(0.95), lengths.rbegin()->first};
}

}  // namespace

SegmentCounts::SegmentCounts(std::size_t labels, const ChainModel* model)
    : max_duration_(model == nullptr ? 0 : model->max_duration),
      labels_(labels),
      transitions_(labels * labels) {
  for (std::size_t c = 0; c < labels; ++c)
    has_tail_.push_back(model != nullptr && model->has_tail() && model->log_tail[c] > kNegativeInfinity);
}

void SegmentCounts::add(std::size_t label, std::int64_t bases, std::int64_t bins) {
  Counts& counts = labels_[label];
  counts.lengths[bases] += 1;
  counts.bases += bases;
  counts.segments += 1;
  counts.at_cap += bins == max_duration_ ? 1 : 0;
  counts.in_tail += bins > max_duration_ ? 1 : 0;
}

void SegmentCounts::add(const SegmentCounts& other) {
  for (std::size_t c = 0; c < labels_.size(); ++c) {
    Counts& to = labels_[c];
    const Counts& from = other.labels_[c];
    for (const auto& [length, count] : from.lengths) to.lengths[length] += count;
    to.bases += from.bases;
    to.segments += from.segments;
    to.at_cap += from.at_cap;
    to.in_tail += from.in_tail;
  }
  for (std::size_t i = 0; i < transitions_.size(); ++i) transitions_[i] += other.transitions_[i];
}

std::vector<DecodedLabelStats> SegmentCounts::stats() const {
  std::int64_t all = 0;
  for (const Counts& counts : labels_) all += counts.bases;
  std::vector<DecodedLabelStats> stats;
  for (std::size_t c = 0; c < labels_.size(); ++c) {
    const Counts& counts = labels_[c];
    DecodedLabelStats one;
    one.segments = counts.segments;
    one.bases = counts.bases;
    one.share = all > 0 ? ratio(counts.bases, all) : 0;
    const auto row = transitions_.begin() + c * labels_.size();
    one.followed_by.assign(row, row + labels_.size());
    if (counts.segments > 0) {
      const auto segments = static_cast<double>(counts.segments);
      one.length = length_stats(counts.lengths, counts.segments, counts.bases);
      if (max_duration_ > 0 && has_tail_[c]) one.in_tail = static_cast<double>(counts.in_tail) / segments;
      if (max_duration_ > 0 && !has_tail_[c]) one.at_cap = static_cast<double>(counts.at_cap) / segments;
    }
    stats.push_back(std::move(one));
  }
  return stats;
}

std::optional<LengthStats> SegmentCounts::lengths() const {
  Counts all;
  for (const Counts& counts : labels_) {
    for (const auto& [length, count] : counts.lengths) all.lengths[length] += count;
    all.segments += counts.segments;
    all.bases += counts.bases;
  }
  if (all.segments == 0) return std::nullopt;
  return length_stats(all.lengths, all.segments, all.bases);
}

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
    places.push_back(found - names.begin());
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
  std::string text = "label" + tabbed_names(label_statistics()) + "\n";
  for (const DecodedLabelStats& label : labels)
    text += escape_control(label.name) + tabbed_values(label_statistics(), label) + "\n";
  return text;
}

std::string transitions_text(const std::vector<DecodedLabelStats>& labels) {
  std::vector<std::string> head{"from"};
  for (const DecodedLabelStats& label : labels) head.push_back(escape_control(label.name));
  std::string text = joined(head, "\t") + "\n";
  for (const DecodedLabelStats& label : labels) {
    std::vector<std::string> cells{escape_control(label.name)};
    for (const std::int64_t count : label.followed_by) cells.push_back(fmt::format("{}", count));
    text += joined(cells, "\t") + "\n";
  }
  return text;
}

}  // namespace semicrf
