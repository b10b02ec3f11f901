// The genes to look at first.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/text/text.h"
#include "draw/scale.h"
#include "genes/gene_path.h"
#include "report/genes/gene_report.h"

namespace semicrf {
namespace {

constexpr double kDoubtfulGene = 0.5;  // neither its start nor its stop codon is more probable
constexpr std::size_t kMostDifferences = 3;

std::string range_text(const CodingExon& place) {
  return count_text(place.begin + 1) + "-" + count_text(place.end);
}

using Introns = std::vector<CodingExon>;

Introns introns_of(const std::vector<PredictedExon>& exons) {
  Introns introns;
  for (std::size_t i = 1; i < exons.size(); ++i)
    introns.push_back({exons[i - 1].exon.end, exons[i].exon.begin});
  return introns;
}

// Those of `a` that `b` has not.
Introns lacking(const Introns& a, const Introns& b) {
  Introns introns;
  std::ranges::set_difference(a, b, std::back_inserter(introns));
  return introns;
}

std::string introns_text(const Introns& introns) {
  std::vector<std::string> texts;
  for (const CodingExon& one : introns)
    if (texts.size() < kMostDifferences) texts.push_back(range_text(one));
  std::string text = introns.size() == 1 ? "intron " : "introns ";
  text += joined(texts, ", ");
  if (introns.size() > kMostDifferences)
    text += fmt::format(" and {} more", introns.size() - kMostDifferences);
  return text;
}

// Genes with the same ends differ in their introns alone.
std::string alternative_text(const PredictedGene& gene) {
  const Introns here = introns_of(gene.exons), there = introns_of(gene.alternatives.front().exons);
  const Introns more = lacking(there, here), less = lacking(here, there);
  if (more.empty()) return "without " + introns_text(less);
  if (less.empty()) return "also " + introns_text(more);
  return introns_text(more) + " instead of " + introns_text(less);
}

// A probability as people read it: three digits behind the point at most.
Cell probability_cell(double p) {
  return {exact_number(p), p < 0.0005 ? "<0.001" : fmt::format("{:.3f}", p), {}, true};
}

// What is least sure of a gene: where the doubt of an exon comes from.
struct LeastSure {
  std::string what;
  double probability = 0;
};

LeastSure least_sure(const PredictedGene& gene) {
  const double ends = std::max(gene.start_probability, gene.stop_probability);
  if (ends < kDoubtfulGene && (gene.has_start() || gene.has_stop())) return {"whether there is a gene", ends};
  const auto least = std::ranges::min_element(gene.exons, {}, &PredictedExon::probability);
  const std::size_t count = gene.exons.size();
  auto number = static_cast<std::size_t>(least - gene.exons.begin());  // along the strand
  if (gene.strand == '-') number = count - 1 - number;
  const double doubt = 1 - least->probability;
  const double start = number == 0 && gene.has_start() ? 1 - gene.start_probability : 0;
  const double stop = number + 1 == count && gene.has_stop() ? 1 - gene.stop_probability : 0;
  if (start >= stop && start > 0 && start >= doubt / 2) return {"start codon", gene.start_probability};
  if (stop > 0 && stop >= doubt / 2) return {"stop codon", gene.stop_probability};
  if (count == 1) return {"the exon", least->probability};
  return {fmt::format("exon {} of {}, {}", number + 1, count, range_text(least->exon)), least->probability};
}

}  // namespace

Section gene_review_section(const GeneStatistics& genes) {
  Section section{"review", "Genes to look at first", {}};
  const std::vector<ReviewedGene> reviewed = genes.reviewed();
  if (reviewed.empty()) {
    section.add(Paragraph{"There are no genes to look at."});
    return section;
  }
  section.add(Paragraph{fmt::format(
      "The {} genes in which most coding bases are in doubt: each exon counts with its length times the "
      "probability that it is not exactly so. Long genes and improbable ones come first, as there a look "
      "changes most. The least sure part says where to look; evidence for it (reads, related proteins) can "
      "be given to another run as hints.",
      reviewed.size())});
  const bool alternatives =
      std::ranges::any_of(reviewed, [](const ReviewedGene& one) { return !one.gene.alternatives.empty(); });
  TableBlock block{"review", "Genes by the number of coding bases in doubt", {}};
  block.table.names = {"gene", "place",          "strand",     "exons",       "coding",
                       "p",    "bases_in_doubt", "least_sure", "p_least_sure"};
  block.table.headings = {"Gene",     "Place",          "Strand",     "Exons",   "Coding",
                          "P (gene)", "Bases in doubt", "Least sure", "P (that)"};
  if (alternatives) {
    block.table.names.insert(block.table.names.end(), {"alternative", "p_alternative"});
    block.table.headings.insert(block.table.headings.end(), {"Next best exons", "P (these)"});
  }
  for (const ReviewedGene& one : reviewed) {
    const PredictedGene& gene = one.gene;
    std::int64_t coding = 0;
    for (const PredictedExon& exon : gene.exons) coding += exon.exon.end - exon.exon.begin;
    const LeastSure least = least_sure(gene);
    std::vector<Cell> row{
        text_cell(fmt::format("{}.g{}", one.sequence, one.number)),
        text_cell(place_text(one.sequence, gene.exons.front().exon.begin, gene.exons.back().exon.end)),
        text_cell(std::string(1, gene.strand)),
        count_cell(std::ssize(gene.exons)),
        bases_cell(coding),
        probability_cell(gene.probability),
        {exact_number(one.doubt), count_text(std::llround(one.doubt)), {}, true},
        text_cell(least.what),
        probability_cell(least.probability)};
    if (alternatives) {
      const bool has = !gene.alternatives.empty();
      row.push_back(text_cell(has ? alternative_text(gene) : "none"));
      row.push_back(has ? probability_cell(gene.alternatives.front().probability) : number_cell({}));
    }
    block.table.rows.push_back(std::move(row));
  }
  section.add(std::move(block));
  return section;
}

}  // namespace semicrf
