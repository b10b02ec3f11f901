// How long genes, exons and introns are, beside those that the model was learned from.
#include <algorithm>
#include <cmath>

#include "core/counts.h"
#include "core/text/text.h"
#include "draw/scale.h"
#include "report/genes/gene_report.h"
#include "report/sections/charts.h"

namespace semicrf {
namespace {

constexpr int kLengthClasses = 26;
constexpr double kRare = 0.01;  // share of the training that is shorter, or longer, than what counts as odd
constexpr std::array<const char*, kLengthKinds> kLengthHeadings{"Genes, from start to stop codon",
                                                                "Coding sequences",
                                                                "Single exons",
                                                                "First exons",
                                                                "Inner exons",
                                                                "Last exons",
                                                                "Introns",
                                                                "Between genes"};
constexpr Rgb kGeneBlue{76, 110, 150}, kExonGreen{34, 139, 94}, kIntronOrange{194, 94, 0},
    kSpaceGrey{120, 132, 144};
constexpr std::array<Rgb, kLengthKinds> kLengthColors{kGeneBlue,  kGeneBlue,  kExonGreen,    kExonGreen,
                                                      kExonGreen, kExonGreen, kIntronOrange, kSpaceGrey};

std::int64_t length_quantile(const std::vector<std::int64_t>& sorted, double share) {
  const auto rank = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(sorted.size()))) - 1;
  return sorted[std::max<std::int64_t>(0, rank)];
}

double share_that(const std::vector<std::int64_t>& lengths, auto holds) {
  return ratio(std::ranges::count_if(lengths, holds), lengths.size());
}

std::vector<Cell> length_row(std::size_t kind, const std::vector<std::int64_t>& sorted,
                             const TrainedLengths* law) {
  const auto bases = [](std::int64_t length) { return bases_cell(length); };
  std::vector<Cell> row{text_cell(kLengthHeadings[kind]),
                        count_cell(std::ssize(sorted)),
                        bases(sorted.front()),
                        bases(length_quantile(sorted, 0.05)),
                        bases(length_quantile(sorted, 0.5)),
                        bases(length_quantile(sorted, 0.95)),
                        bases(sorted.back())};
  if (law == nullptr) {
    row.insert(row.end(), 3, number_cell({}));
    return row;
  }
  const std::int64_t low = law->quantile(kRare), high = law->quantile(1 - kRare);
  row.push_back(bases(law->quantile(0.5)));
  row.push_back(share_cell(share_that(sorted, [&](std::int64_t length) { return length < low; })));
  row.push_back(share_cell(share_that(sorted, [&](std::int64_t length) { return length > high; })));
  return row;
}

Histogram length_panel(std::size_t kind, const std::vector<std::int64_t>& sorted, const TrainedLengths* law,
                       Table& table) {
  Histogram panel;
  panel.title = kLengthHeadings[kind];
  panel.color = kLengthColors[kind];
  panel.subtitle = "median " + bases_text(length_quantile(sorted, 0.5)) +
                   (law == nullptr ? "" : ", in training " + bases_text(law->quantile(0.5)));
  // What few are longer than would leave no room for the others.
  const std::int64_t shortest = sorted.front(), longest = sorted.back();
  std::vector<double> edges;
  const double factor = std::pow(ratio(longest + 1, shortest), 1.0 / kLengthClasses);
  for (double edge = static_cast<double>(shortest); edge < static_cast<double>(longest + 1);
       edge = std::max(edge + 1, std::ceil(edge * factor - 1e-9)))
    edges.push_back(edge);
  edges.push_back(std::max(static_cast<double>(longest + 1), edges.back() + 1));
  panel.edges = edges;
  panel.x = {edges.front(), edges.back(), 0, 1, true};
  panel.ticks = length_ticks(edges.front(), edges.back());
  panel.x_title = "length";
  for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
    const auto begin = static_cast<std::int64_t>(edges[i]), end = static_cast<std::int64_t>(edges[i + 1]);
    const auto count = std::ranges::lower_bound(sorted, end) - std::ranges::lower_bound(sorted, begin);
    const double share = ratio(count, sorted.size());
    panel.shares.push_back(share);
    if (law != nullptr) panel.line.push_back(law->share(begin, end));
    panel.tips.push_back(bases_text(edges[i]) + " to " + bases_text(edges[i + 1] - 1) + ": " +
                         count_text(count) + ", " + share_text(share));
    table.rows.push_back({text_cell(kLengthNames[kind]), integer_cell(begin), integer_cell(end - 1),
                          count_cell(count), share_cell(share),
                          number_cell(law == nullptr ? std::nullopt : std::optional(panel.line.back()))});
  }
  return panel;
}

}  // namespace

Section gene_lengths_section(const GeneStatistics& genes,
                             const std::array<const TrainedLengths*, kLengthKinds>& laws) {
  Section section{"lengths", "How long they are", {}};
  TableBlock block{"length-summary", "Lengths", {}};
  block.table.names = {"of",      "count",           "shortest",        "q05",           "median", "q95",
                       "longest", "training_median", "unusually_short", "unusually_long"};
  block.table.headings = {"Length of",       "Count",          "Shortest", "5 % are shorter",
                          "Median",          "5 % are longer", "Longest",  "Median in training",
                          "Unusually short", "Unusually long"};
  Figure figure;
  figure.name = "lengths";
  figure.title = "Lengths, and those of the training";
  figure.reading =
      "Bars: the share of the lengths in each class, which grow towards the right. Line: the lengths that "
      "the model was trained on. Bars that leave the line show a genome that differs from the one of the "
      "training, or parts that are wrong.";
  figure.table.names = {"of", "from", "to", "count", "share", "training"};
  double top = 0;
  std::vector<Histogram> panels;
  for (std::size_t kind = 0; kind < kLengthKinds; ++kind) {
    std::vector<std::int64_t> sorted = genes.lengths(static_cast<LengthOf>(kind));
    if (sorted.empty()) continue;
    std::ranges::sort(sorted);
    block.table.rows.push_back(length_row(kind, sorted, laws[kind]));
    panels.push_back(length_panel(kind, sorted, laws[kind], figure.table));
  }
  if (panels.empty()) {
    section.add(Paragraph{"There are no genes that could be long or short."});
    return section;
  }
  for (Histogram& panel : panels) {
    top = std::ranges::max(panel.shares);
    if (!panel.line.empty()) top = std::max(top, std::ranges::max(panel.line));
    panel.top = nice_ceiling(top);
    figure.panels.push_back(draw_histogram(panel));
  }
  section.add(std::move(figure));
  section.add(Paragraph{
      "Unusually short and long: the share of what is found that is shorter or longer than all but one "
      "hundredth of the training; about 1 % each where nothing is unusual. Stop codons count with their "
      "exons."});
  section.add(std::move(block));
  return section;
}

}  // namespace semicrf
