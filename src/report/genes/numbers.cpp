// How many genes there are, in all and by sequence, and how sure they are.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "draw/scale.h"
#include "eval/metrics/text_table.h"
#include "report/data/certainty.h"
#include "report/genes/gene_report.h"
#include "report/sections/charts.h"

namespace semicrf {
namespace {

constexpr std::size_t kMostSequences = 30;
constexpr Rgb kGeneColor{76, 110, 150}, kExonColor{34, 139, 94}, kPlaceColor{194, 94, 0};

const StatisticList<SequenceNumbers>& gene_statistics() {
  using enum StatisticUnit;
  using S = SequenceNumbers;
  static const StatisticList<S> list = {
      {"bases", "length", kBases, &S::bases},
      {"genes", "genes", kCount, &S::genes},
      {"expected_right", "expected right", kNumber, &S::expected},
      {"share_expected", "share of these", kShare, [](const S& s) { return share_of(s.expected, s.genes); }},
      {"exons", "exons", kCount, &S::exons},
      {"introns", "introns", kCount, &S::introns},
      {"coding_share", "coding", kShare, [](const S& s) { return share_of(s.coding, s.bases); }},
  };
  return list;
}

TableBlock sequence_table(const GeneStatistics& genes) {
  TableBlock block{"sequences", "Genes by sequence", {}};
  add_columns(gene_statistics(), "sequence", "Sequence", block.table);
  const std::vector<SequenceNumbers>& all = genes.sequences();
  std::vector<double> sizes;
  for (const SequenceNumbers& one : all) sizes.push_back(static_cast<double>(one.genes));
  const std::vector<std::size_t> shown = largest(sizes, kMostSequences);
  SequenceNumbers rest = genes.total();
  for (const std::size_t i : shown) {
    add_row(gene_statistics(), all[i].name, all[i], block.table);
    const SequenceNumbers& one = all[i];
    rest.add({"", -one.bases, -one.genes, -one.exons, -one.introns, -one.coding, -one.expected});
  }
  if (shown.size() < all.size())
    add_row(gene_statistics(), fmt::format("({} others)", all.size() - shown.size()), rest, block.table);
  if (all.size() > 1) add_row(gene_statistics(), "(all)", genes.total(), block.table);
  return block;
}

TableBlock structure_table(const GeneStatistics& genes) {
  TableBlock block{"structure", "What the genes are made of", {}};
  block.table.names = {"what", "count", "share"};
  block.table.headings = {"", "Count", "Of genes"};
  const SequenceNumbers all = genes.total();
  const auto add = [&](const char* what, std::int64_t count) {
    block.table.rows.push_back({text_cell(what), count_cell(count), share_cell(share_of(count, all.genes))});
  };
  const std::int64_t single = std::ssize(genes.lengths(kSingle));
  add("Genes of one exon", single);
  add("Genes with introns", all.genes - single);
  add("Genes on the + strand", genes.on_plus());
  add("Genes on the \xe2\x88\x92 strand", all.genes - genes.on_plus());
  return block;
}

ProbabilityClasses classes_of(const std::vector<double>& probabilities) {
  ProbabilityClasses classes;
  for (const double p : probabilities) classes.add(p, 1);
  return classes;
}

Figure probability_figure(const GeneStatistics& genes) {
  Figure figure;
  figure.name = "certainty";
  figure.title = "How probable the genes and their parts are";
  figure.reading =
      "Bars at the right: the sequence leaves no doubt. The first panel asks for every exon of a gene at "
      "once, to the base; the others for one exon, and for the start or stop codon alone. A gene that is "
      "improbable with a probable stop codon is most likely there and starts elsewhere.";
  figure.table.names = {"of", "from", "to", "count", "share", "mean"};
  struct Kind {
    const char *title, *of, *things;
    const std::vector<double>* values;
    Rgb color;
  };
  const std::vector<Kind> kinds{
      {"Exactly this gene", "gene", "genes", &genes.gene_probabilities(), kGeneColor},
      {"Exactly this exon", "exon", "exons", &genes.exon_probabilities(), kExonColor},
      {"This start codon", "start", "genes", &genes.start_probabilities(), kPlaceColor},
      {"This stop codon", "stop", "genes", &genes.stop_probabilities(), kPlaceColor}};
  for (const Kind& kind : kinds) {
    const ProbabilityClasses classes = classes_of(*kind.values);
    Histogram panel = probability_panel(kind.title, kind.color, classes, kind.things);
    panel.x_title = "probability";
    for (std::size_t i = 0; i < kProbabilityClasses; ++i)
      figure.table.rows.push_back({text_cell(kind.of), number_cell(panel.edges[i]),
                                   number_cell(panel.edges[i + 1]),
                                   count_cell(std::llround(classes.counts[i])), share_cell(panel.shares[i]),
                                   number_cell(classes.mean())});
    panel.top = nice_ceiling(std::ranges::max(panel.shares));
    figure.panels.push_back(draw_histogram(panel));
  }
  return figure;
}

TableBlock threshold_table(const GeneStatistics& genes) {
  TableBlock block{"thresholds", "Genes that are at least so probable", {}};
  block.table.names = {"least", "genes", "share", "expected_right", "expected_precision"};
  block.table.headings = {"P at least", "Genes", "Of all", "Expected right", "Expected share that is right"};
  const std::vector<double>& all = genes.gene_probabilities();
  for (const double least : {0.0, 0.5, 0.8, 0.9, 0.95, 0.99}) {
    std::int64_t count = 0;
    double right = 0;
    for (const double p : all)
      if (p >= least) count += 1, right += p;
    block.table.rows.push_back({number_cell(least), count_cell(count),
                                share_cell(share_of(count, std::ssize(all))), number_cell(right),
                                share_cell(share_of(right, count))});
  }
  return block;
}

}  // namespace

Section gene_numbers_section(const GeneStatistics& genes) {
  Section section{"numbers", "How many genes", {}};
  section.add(Paragraph{
      "Each gene has a probability of being right to the base in all its exons. Their sum is the number of "
      "genes that are expected to be right. The others are not all wrong: most have one exon, or the start "
      "codon, at another place."});
  section.add(sequence_table(genes));
  section.add(structure_table(genes));
  return section;
}

Section gene_certainty_section(const GeneStatistics& genes) {
  Section section{"certainty", "How sure they are", {}};
  if (genes.gene_probabilities().empty()) {
    section.add(Paragraph{"There are no genes to be sure of."});
    return section;
  }
  section.add(probability_figure(genes));
  section.add(Paragraph{
      "Keeping only genes above a threshold (column 6 of the gene lines) gives fewer genes of which more are "
      "right. These numbers are the model's own; eval-genes shows on known genes how far they come true."});
  section.add(threshold_table(genes));
  return section;
}

}  // namespace semicrf
