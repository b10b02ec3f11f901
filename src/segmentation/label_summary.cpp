#include "segmentation/label_summary.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "core/error.h"
#include "core/text.h"
#include "io/json/json_document.h"

namespace semicrf {
namespace {

// The smallest value that a share of the sorted ones does not exceed.
std::int64_t quantile_of(const std::vector<std::int64_t>& sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size());
  const auto above = static_cast<std::size_t>(std::max(0.0, std::ceil(rank) - 1));
  return sorted[std::min(above, sorted.size() - 1)];
}

std::string six_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

std::string optional_text(const std::optional<double>& value) { return value ? six_digits(*value) : "."; }

// Of every label of the segmentation, its place in the summary.
std::vector<std::size_t> places_of(const SegmentationFile& segmentation, const Parameters* model,
                                   std::vector<std::string>& names) {
  for (const Label& label : model != nullptr ? model->labels : segmentation.labels)
    names.push_back(label.name);
  std::vector<std::size_t> places;
  for (std::size_t c = 0; c < segmentation.labels.size(); ++c) {
    const Label& label = segmentation.labels[c];
    const auto found = std::ranges::find(names, label.name);
    if (found == names.end())
      throw InputError({segmentation.path, "line " + std::to_string(segmentation.first_line(c)),
                        "the label " + in_quotes(label.name) + " is not one of the model, which has " +
                            joined(names, ", "),
                        "give the parameters that the segmentation was made with"});
    places.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  return places;
}

void add_durations(const Parameters& model, const std::vector<std::int64_t>& lengths, std::size_t label,
                   LabelSummary& summary) {
  const std::int64_t cap = model.chain.max_duration;
  const bool has_tail = model.chain.has_tail() && model.chain.log_tail[label] > kNegativeInfinity;
  double at = 0, beyond = 0;
  for (const std::int64_t length : lengths) {
    const std::int64_t bins = (length + model.bin_size - 1) / model.bin_size;
    at += bins == cap ? 1 : 0;
    beyond += bins > cap ? 1 : 0;
  }
  const auto count = static_cast<double>(lengths.size());
  if (!has_tail) summary.at_cap = at / count;
  if (has_tail) summary.in_tail = beyond / count;
}

void add_lengths(std::vector<std::int64_t>& lengths, LabelSummary& summary) {
  std::ranges::sort(lengths);
  summary.segments = std::ssize(lengths);
  summary.bases = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  summary.mean = static_cast<double>(summary.bases) / static_cast<double>(lengths.size());
  summary.shortest = lengths.front();
  summary.q05 = quantile_of(lengths, 0.05);
  summary.q25 = quantile_of(lengths, 0.25);
  summary.median = quantile_of(lengths, 0.5);
  summary.q75 = quantile_of(lengths, 0.75);
  summary.q95 = quantile_of(lengths, 0.95);
  summary.longest = lengths.back();
}

}  // namespace

SegmentationSummary summarize(const SegmentationFile& segmentation, const Parameters* model) {
  std::vector<std::string> names;
  const std::vector<std::size_t> places = places_of(segmentation, model, names);
  const std::size_t labels = names.size();
  SegmentationSummary summary;
  summary.transitions.resize(labels * labels);
  std::vector<std::vector<std::int64_t>> lengths(labels);
  std::vector<double> posterior(labels), scored(labels);  // sums over bases
  for (const SegmentedChromosome& chromosome : segmentation.chromosomes) {
    const LabelledSegment* before = nullptr;
    for (const LabelledSegment& segment : chromosome.segments) {
      const std::size_t c = places[segment.label];
      const auto bases = static_cast<double>(segment.size());
      lengths[c].push_back(segment.size());
      if (segment.score >= 0) {
        posterior[c] += bases * static_cast<double>(segment.score);
        scored[c] += bases;
      }
      if (before != nullptr && before->end == segment.begin)
        summary.transitions[places[before->label] * labels + c] += 1;
      before = &segment;
    }
  }
  const auto all = static_cast<double>(segmentation.bases());
  for (std::size_t c = 0; c < labels; ++c) {
    LabelSummary one;
    one.label = names[c];
    if (!lengths[c].empty()) {
      add_lengths(lengths[c], one);
      if (model != nullptr) add_durations(*model, lengths[c], c, one);
    }
    one.share = static_cast<double>(one.bases) / all;
    if (scored[c] > 0) one.posterior = posterior[c] / scored[c];
    summary.labels.push_back(std::move(one));
  }
  return summary;
}

std::string summary_text(const SegmentationSummary& summary) {
  std::string text =
      "label\tsegments\tbases\tshare\tmean\tshortest\tq05\tq25\tmedian\tq75\tq95\tlongest\tposterior\t"
      "at_cap\tin_tail\n";
  for (const LabelSummary& label : summary.labels) {
    std::vector<std::string> cells{escape_control(label.label), std::to_string(label.segments),
                                   std::to_string(label.bases), six_digits(label.share)};
    const bool none = label.segments == 0;
    cells.push_back(none ? "." : six_digits(label.mean));
    for (const std::int64_t length :
         {label.shortest, label.q05, label.q25, label.median, label.q75, label.q95, label.longest})
      cells.push_back(none ? "." : std::to_string(length));
    for (const std::optional<double>& value : {label.posterior, label.at_cap, label.in_tail})
      cells.push_back(optional_text(value));
    text += joined(cells, "\t") + "\n";
  }
  return text;
}

std::string transitions_text(const SegmentationSummary& summary) {
  std::vector<std::string> head{"from"};
  for (const LabelSummary& label : summary.labels) head.push_back(escape_control(label.label));
  std::string text = joined(head, "\t") + "\n";
  const std::size_t labels = summary.labels.size();
  for (std::size_t from = 0; from < labels; ++from) {
    std::vector<std::string> cells{head[from + 1]};
    for (std::size_t to = 0; to < labels; ++to)
      cells.push_back(std::to_string(summary.transitions[from * labels + to]));
    text += joined(cells, "\t") + "\n";
  }
  return text;
}

}  // namespace semicrf
