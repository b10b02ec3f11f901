// How much of each label there is, how long its segments are, and what follows it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/text/text.h"
#include "draw/scale.h"
#include "eval/metrics/text_table.h"
#include "io/params/training_record.h"
#include "report/data/duration_law.h"
#include "report/sections/charts.h"
#include "report/sections/sections.h"

namespace semicrf {
namespace {

// Where the parameters know it, how long the segments were that they were learned from.
void add_training_lengths(const ReportBasis& basis, Table& table) {
  const TrainingFacts facts = training_facts(basis.model());
  const auto knows = [](const TrainingFacts::Label& label) {
    return label.training && label.training->segments > 0;
  };
  if (std::ranges::none_of(facts.durations, knows)) return;
  table.names.emplace_back("training_median");
  table.headings.emplace_back("Median in training");
  for (std::size_t c = 0; c < table.rows.size(); ++c) {
    const bool known = c < facts.durations.size() && knows(facts.durations[c]);
    table.rows[c].push_back(known ? bases_cell(facts.durations[c].training->median * basis.bin_size())
                                  : text_cell("."));
  }
}

TableBlock label_table(const ReportBasis& basis) {
  TableBlock block{"labels", "Labels", {}};
  add_columns(label_statistics(), "label", "Label", block.table);
  for (const DecodedLabelStats& label : basis.labels)
    add_row(label_statistics(), label.name, label, block.table);
  add_training_lengths(basis, block.table);
  for (std::size_t c = 0; c < basis.labels.size(); ++c) block.table.rows[c][0].color = basis.colors[c];
  return block;
}

Figure share_figure(const ReportBasis& basis) {
  Figure figure;
  figure.name = "shares";
  figure.title = "How much, and how long";
  figure.reading = "Left: the share of all segmented " + units().many +
                   " that each label has. Right: its segments' lengths; the dot is the median, the bar "
                   "reaches from the 5 % to the 95 % quantile.";
  Bars bars;
  bars.title = "Share of " + units().many;
  Ranges ranges;
  ranges.title = "Lengths of segments";
  StatisticList<DecodedLabelStats> shown;
  for (const char* name : {"share", "q05", "median", "q95"})
    shown.push_back(statistic(label_statistics(), name));
  add_columns(shown, "label", "", figure.table);
  for (const DecodedLabelStats& label : basis.labels) add_row(shown, label.name, label, figure.table);
  figure.table.headings.clear();  // the figure's table has plain names
  for (std::size_t c = 0; c < basis.labels.size(); ++c) {
    const DecodedLabelStats& counts = basis.labels[c];
    bars.names.push_back(counts.name);
    bars.values.push_back(counts.share);
    bars.texts.push_back(share_text(counts.share));
    Ranges::Range range;
    if (const auto& length = counts.length) {
      range = {static_cast<double>(length->q05), static_cast<double>(length->median),
               static_cast<double>(length->q95), ""};
      range.text =
          bases_text(range.low) + " to " + bases_text(range.high) + ", median " + bases_text(range.middle);
    }
    ranges.names.push_back(counts.name);
    ranges.ranges.push_back(range);
  }
  bars.colors = ranges.colors = basis.colors;
  figure.panels = {draw_bars(bars), draw_ranges(ranges)};
  return figure;
}

Histogram duration_panel(const ReportBasis& basis, const DurationCounts& counts, std::size_t c) {
  Histogram panel;
  const double bin = static_cast<double>(basis.bin_size());
  panel.title = basis.label(c);
  panel.color = basis.colors[c];
  panel.subtitle = count_text(basis.labels[c].segments) +
                   (basis.labels[c].segments == 1 ? " segment, median " : " segments, median ") +
                   bases_text(basis.labels[c].length->median);
  for (const long long edge : counts.edges) panel.edges.push_back(static_cast<double>(edge) * bin);
  panel.x = {panel.edges.front(), panel.edges.back(), 0, 1, counts.grows};
  for (std::size_t i = 0; i < counts.classes(); ++i) {
    panel.shares.push_back(counts.share(c, i));
    panel.tips.push_back(bases_text(panel.edges[i]) +
                         (counts.edges[i] + 1 == counts.edges[i + 1]
                              ? ""
                              : " to " + bases_text(static_cast<double>(counts.edges[i + 1] - 1) * bin)) +
                         ": " + count_text(counts.segments[c][i]) + " segments, " +
                         share_text(counts.share(c, i)));
  }
  panel.line = counts.law[c];
  panel.x_title = "length of segments";
  if (counts.grows) {
    panel.ticks = length_ticks(panel.x.begin, panel.x.end);
  } else {
    for (const double tick : nice_ticks(panel.x.begin, panel.x.end, 5))
      panel.ticks.push_back({tick, bases_text(tick)});
  }
  panel.limit = static_cast<double>(basis.model().chain.max_duration + 1) * bin;
  return panel;
}

Figure duration_figure(const ReportBasis& basis) {
  const DurationCounts counts = count_durations(basis);
  Figure figure;
  figure.name = "durations";
  figure.title = "How long segments are, and what the model expects";
  figure.reading =
      "Bars: the share of the label's segments with a length in each class. Line: what the model's durations "
      "alone would give, before tracks and transitions have their say; where bars leave the line, the data "
      "moved them. The dashed line K is the longest length with a score of its own.";
  if (!counts.note.empty()) figure.reading += " " + counts.note;
  figure.table.names = {"label", "from", "to", "segments", "share", "model"};
  double top = 0;
  std::vector<std::size_t> shown = drawn_labels(basis, kMostPanels);
  std::erase_if(shown, [&](std::size_t c) { return basis.labels[c].segments == 0; });
  for (const std::size_t c : shown)
    for (std::size_t i = 0; i < counts.classes(); ++i)
      top = std::max({top, counts.share(c, i), counts.law[c].empty() ? 0 : counts.law[c][i]});
  for (std::size_t c = 0; c < basis.num_labels(); ++c)
    for (std::size_t i = 0; i < counts.classes(); ++i)
      figure.table.rows.push_back(
          {text_cell(basis.label(c)), bases_cell(counts.edges[i] * basis.bin_size()),
           bases_cell((counts.edges[i + 1] - 1) * basis.bin_size()), count_cell(counts.segments[c][i]),
           share_cell(counts.share(c, i)),
           number_cell(counts.law[c].empty() ? std::nullopt : std::optional(counts.law[c][i]))});
  for (const std::size_t c : shown) {
    Histogram panel = duration_panel(basis, counts, c);
    panel.top = nice_ceiling(top);
    figure.panels.push_back(draw_histogram(panel));
  }
  figure.reading += undrawn_labels(basis, kMostPanels);
  return figure;
}

Figure seen_transition_figure(const ReportBasis& basis) {
  const TransitionMap map{.name = "transitions-seen",
                          .title = "What follows what",
                          .reading =
                              "Of the segments of the label on the left that another one touches, the share "
                              "that is followed by the label above.",
                          .map_title = "Label that follows",
                          .what = "share",
                          .column_title = "followed by",
                          .scale = HeatScale::kCommon,
                          .value_columns = {"segments", "share"}};
  return transition_figure(basis, map, [&](std::size_t from, std::size_t to) {
    const std::vector<std::int64_t>& followed = basis.labels[from].followed_by;
    const std::int64_t all = std::accumulate(followed.begin(), followed.end(), std::int64_t{0});
    const std::int64_t count = to < followed.size() ? followed[to] : 0;
    TransitionEntry entry;
    if (all > 0) entry.drawn = *share_of(count, all);
    entry.cells = {count_cell(count), share_cell(entry.drawn)};
    return entry;
  });
}

}  // namespace

Section labels_section(const ReportBasis& basis) {
  Section section{"labels", "Labels", {}};
  section.add(
      Paragraph{"What the segmentation consists of. A label with few long segments and one with many short "
                "ones can cover the same share of the genome; the lengths tell them apart."});
  section.add(label_table(basis));
  section.add(share_figure(basis));
  section.add(duration_figure(basis));
  section.add(seen_transition_figure(basis));
  return section;
}

}  // namespace semicrf
