// How sure the model is of its boundaries and labels, and whether that can be believed.
#include <algorithm>
#include <cmath>

#include "core/text/text.h"
#include "draw/reliability_picture.h"
#include "draw/scale.h"
#include "draw/svg.h"
#include "report/sections/charts.h"
#include "report/sections/sections.h"

namespace semicrf {
namespace {

// What a figure of histograms by label counts.
struct Kind {
  std::string name, title, reading, x_title, things;
};

// Without a panel where nothing has a probability.
Figure probability_figure(const ReportBasis& basis, const std::vector<ProbabilityClasses>& labels,
                          const Kind& kind) {
  Figure figure;
  figure.name = kind.name;
  figure.title = kind.title;
  figure.reading = kind.reading;
  figure.table.names = {"label", "from", "to", kind.things, "share", "mean"};
  std::vector<const ProbabilityClasses*> panels;
  ProbabilityClasses all;
  for (const ProbabilityClasses& one : labels) {
    for (std::size_t i = 0; i < kProbabilityClasses; ++i) all.counts[i] += one.counts[i];
    all.total += one.total;
    all.sum += one.sum;
  }
  if (labels.size() > 1 && all.total > 0) panels.push_back(&all);
  for (const ProbabilityClasses& one : labels)
    if (one.total > 0) panels.push_back(&one);
  const std::vector<std::size_t> drawn = drawn_labels(basis, kMostPanels);
  figure.reading += undrawn_labels(basis, kMostPanels);
  double top = 0;
  for (const ProbabilityClasses* one : panels)
    for (const double count : one->counts) top = std::max(top, count / one->total);
  for (const ProbabilityClasses* one : panels) {
    const bool is_label = one != &all;
    const auto c = is_label ? static_cast<std::size_t>(one - labels.data()) : 0;
    const std::string name = is_label ? basis.label(c) : "(all)";
    Histogram panel = probability_panel(is_label ? name : "All labels",
                                        is_label ? basis.colors[c] : Rgb{120, 132, 144}, *one, kind.things);
    panel.top = nice_ceiling(top);
    panel.x_title = kind.x_title;
    for (std::size_t i = 0; i < kProbabilityClasses; ++i)
      figure.table.rows.push_back({text_cell(name), number_cell(panel.edges[i]),
                                   number_cell(panel.edges[i + 1]), count_cell(std::llround(one->counts[i])),
                                   share_cell(panel.shares[i]), number_cell(one->mean())});
    if (!is_label || std::ranges::find(drawn, c) != drawn.end())
      figure.panels.push_back(draw_histogram(panel));
  }
  return figure;
}

// One value of windows along all parts.
struct Curve {
  std::string title, axis;
  std::optional<double> CertaintyWindow::*value;
  double low = 0, high = 1;
  bool is_share = false;
};

Drawing draw_along(const ReportBasis& basis, const Certainty& certainty, const Curve& curve) {
  constexpr double kWidth = 900, kRow = 46, kPlot = 34, kTop = 30;
  const std::vector<std::size_t> parts = shown_parts(basis);
  double left = 0;
  std::int64_t longest = 1, first = -1;
  for (const std::size_t i : parts) {
    const Part& part = basis.parts[i];
    left = std::max(left, text_width(fitted(part.title, 110)));
    longest = std::max(longest, part.origin + part.length);
    first = first < 0 ? part.origin : std::min(first, part.origin);
  }
  // Where only a part of a chromosome has segments, that part is shown.
  std::int64_t begin = longest, end = 0;
  for (const CertaintyWindow& window : certainty.windows) {
    if (!(window.bins > 0) || std::ranges::find(parts, window.part) == parts.end()) continue;
    begin = std::min(begin, window.begin);
    end = std::max(end, window.end);
  }
  if (static_cast<double>(begin - first) < 0.1 * static_cast<double>(end - first)) begin = first;
  left += 44;
  const Scale x{static_cast<double>(begin), static_cast<double>(end), left, kWidth - 12, false};
  Canvas canvas;
  canvas.text(0, 12, Canvas::Anchor::kStart, "title", curve.title);
  double y = kTop;
  for (const std::size_t i : parts) {
    const Scale up{curve.low, curve.high, y + kPlot, y, false};
    canvas.text(left - 44, y + kPlot / 2 + 4, Canvas::Anchor::kEnd, "", fitted(basis.parts[i].title, 110));
    canvas.text(left - 6, y + 9, Canvas::Anchor::kEnd, "tick", short_number(curve.high));
    canvas.text(left - 6, y + kPlot, Canvas::Anchor::kEnd, "tick", short_number(curve.low));
    canvas.line(x.from, y, x.to, y, "grid");
    canvas.line(x.from, y + kPlot, x.to, y + kPlot, "axis");
    SvgPath path;
    bool open = false;
    const auto close = [&] {
      if (open) path.upright(y + kPlot);
      if (open) path.close();
      open = false;
    };
    for (const CertaintyWindow& window : certainty.windows) {
      if (window.part != i) continue;
      const std::optional<double>& value = window.*curve.value;
      if (!value || !(window.bins > 0)) {
        close();
        continue;
      }
      if (!open) path.move(x.at(static_cast<double>(window.begin)), y + kPlot);
      open = true;
      path.upright(up.at(*value));
      path.across(x.at(static_cast<double>(window.end)));
    }
    close();
    if (!path.empty()) canvas.path(path.text(), "class=\"track\"", basis.parts[i].title);
    y += kRow;
  }
  std::vector<Tick> ticks;
  for (const double tick : nice_ticks(x.begin, x.end, 9)) ticks.push_back({tick, bases_text(tick, 6)});
  for (const Tick& tick : ticks_with_room(ticks, x, left - 30, kWidth)) {
    canvas.line(x.at(tick.at), y - kRow + kPlot, x.at(tick.at), y - kRow + kPlot + 4, "axis");
    canvas.text(x.at(tick.at), y - kRow + kPlot + 16, Canvas::Anchor::kMiddle, "tick", tick.text);
  }
  return {kWidth, y - kRow + kPlot + 22, curve.title, curve.axis, canvas.body()};
}

Figure along_figure(const ReportBasis& basis, const Certainty& certainty) {
  Figure figure;
  figure.name = "along";
  figure.title = "Certainty along the sequences";
  figure.table.names = {"sequence", "begin", "end", "bins", "called_label", "boundary_entropy"};
  double least = 1, most = 0;
  for (const CertaintyWindow& window : certainty.windows) {
    if (!(window.bins > 0)) continue;
    least = std::min(least, window.called.value_or(1));
    most = std::max(most, window.boundary.value_or(0));
    figure.table.rows.push_back({text_cell(basis.parts[window.part].title), integer_cell(window.begin),
                                 integer_cell(window.end), count_cell(std::llround(window.bins)),
                                 number_cell(window.called), number_cell(window.boundary)});
  }
  if (certainty.has_labels)
    figure.panels.push_back(
        draw_along(basis, certainty,
                   {"Mean probability of the label that was called", "From the lower to the upper tick",
                    &CertaintyWindow::called, std::floor(least * 10) / 10, 1, true}));
  if (certainty.has_boundaries)
    figure.panels.push_back(
        draw_along(basis, certainty,
                   {"Doubt about boundaries: entropy of a boundary at a bin, bits",
                    "From 0 to the upper tick", &CertaintyWindow::boundary, 0, nice_ceiling(most), false}));
  figure.reading =
      "Each step is the mean of a stretch. Low probability of the called label, or high entropy of "
      "boundaries, marks regions whose segments should not be taken at face value. All rows share one scale.";
  return figure;
}

void add_calibration(const EvalReport& evaluation, Section& section) {
  const CalibrationReport& calibration = *evaluation.calibration;
  std::vector<ReliabilitySeries> series;
  if (calibration.boundaries) series.push_back({"starts of segments", &calibration.boundaries->reliability});
  std::optional<Reliability> labels;
  if (calibration.labels) labels = calibration.labels->pooled();
  if (labels) series.push_back({"labels of bins", &*labels});
  if (series.empty()) return;
  Figure figure;
  figure.name = "calibration";
  figure.title = "Can the probabilities be believed?";
  figure.reading =
      "Of all that was given a probability of about 0.8, four of five should have happened: points on the "
      "diagonal "
      "are right, points below it are too sure. The truth is the file that was given, with its own errors.";
  add_columns(reliability_part_statistics(), "of", "", figure.table);
  figure.table.headings.clear();  // the figure's table has plain names
  for (const ReliabilitySeries& one : series)
    for (const ReliabilityPart& part : one.reliability->parts())
      if (part.count > 0) add_row(reliability_part_statistics(), one.name, part, figure.table);
  figure.panels = {draw_reliability("Calibration", series)};
  section.add(std::move(figure));
  TableBlock table{"calibration-summary", "Calibration in numbers", {}};
  add_columns(reliability_statistics(), "of", "Of", table.table);
  for (const ReliabilitySeries& one : series)
    add_row(reliability_statistics(), one.name, *one.reliability, table.table);
  if (labels)  // scores of bins, as those of eval, not of pairs of a bin and a label
    for (std::size_t i = 1; i < table.table.names.size(); ++i)
      for (const auto& own : label_posterior_statistics())
        if (own.name == table.table.names[i] && own.name != "bins")
          table.table.rows.back()[i] = statistic_cell(own.unit, own.value(*calibration.labels));
  section.add(std::move(table));
}

void add_if_drawn(Section& section, Figure figure) {
  if (!figure.panels.empty()) section.add(std::move(figure));
}

std::string boundary_sentence(const Certainty& certainty) {
  return "The segments have " + count_text(certainty.called) +
         " boundaries with a probability; the posterior expects " +
         count_text(std::llround(certainty.expected)) +
         " in the same bins. Many more expected than called means that the best segmentation leaves out "
         "boundaries that are likely one by one, but not at one place.";
}

}  // namespace

Section certainty_section(const ReportBasis& basis, const Certainty& certainty,
                          const std::optional<EvalReport>& evaluation) {
  Section section{"certainty", "How sure", {}};
  if (certainty.has_boundaries) {
    section.add(Paragraph{boundary_sentence(certainty)});
    add_if_drawn(
        section,
        probability_figure(
            basis, certainty.starts,
            {"boundary-posterior", "Probability of a boundary where segments start",
             "By the label that starts. Bars at the right: the place is certain to the bin. A boundary that "
             "is "
             "certain, but "
             "not to the bin, shares its probability among neighbouring bins and stands further left.",
             "P(a segment starts at this bin)", "starts"}));
  } else {
    section.add(
        Paragraph{"No boundary posterior was given: add --posterior FILE, written by semicrf decode "
                  "--posterior FILE in the run that makes the segments, to see how sure each boundary is."});
  }
  if (certainty.has_labels) {
    add_if_drawn(
        section,
        probability_figure(
            basis, certainty.called_labels,
            {"label-posterior", "Probability of the label that was called",
             certainty.is_of_segments
                 ? "Each bin counts with the mean of its segment (column 5 of the segments). Bars at "
                   "the right: hardly any other label is possible."
                 : "Each bin counts by itself, from the label posteriors. Bars at the right: hardly "
                   "any other label is possible.",
             "P(label of the bin)", "bins"}));
  } else {
    section.add(
        Paragraph{"The segments have no posteriors in column 5: decode them without --score none, or give "
                  "label posteriors with --labels-posterior NAME, to see how sure each label is."});
  }
  if (certainty.has_boundaries || certainty.has_labels) section.add(along_figure(basis, certainty));
  if (evaluation && evaluation->calibration) {
    add_calibration(*evaluation, section);
  } else {
    section.add(
        Paragraph{"Whether these probabilities can be believed is shown where there is a truth: add --truth "
                  "FILE, a BED file of known segments, and --posterior FILE or --labels-posterior NAME."});
  }
  return section;
}

}  // namespace semicrf
