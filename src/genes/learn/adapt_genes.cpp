#include "genes/learn/adapt_genes.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "core/error.h"
#include "genes/learn/gene_counts.h"
#include "genes/open_ends.h"
#include "genes/predict_genes.h"
#include "genes/sequence_source.h"

namespace semicrf {
namespace {

constexpr std::int64_t kFewestGenes = 10;

using GenePlace = std::tuple<std::size_t, std::int64_t, std::int64_t, char>;  // sequence, begin, end, strand

// The genes of every sequence that are certain and whole; others are masked.
std::vector<CountedSequence> predict(const GeneModel& model, const std::vector<UnknownSequence>& sequences,
                                     const AdaptGenesOptions& options, std::set<GenePlace>& places) {
  const GeneLattice lattice = open_ends(model, compile(model, ""));
  std::vector<CountedSequence> all;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    CountedSequence counted{&sequences[s].bases, {}, {}};
    for (const PredictedGene& gene :
         predict_genes(model, lattice, sequences[s].bases, options.threads).genes) {
      CodingTranscript one{"", "", gene.strand, {}};
      for (const PredictedExon& exon : gene.exons) one.exons.push_back(exon.exon);
      places.emplace(s, one.begin(), one.end(), one.strand);
      if (gene.stop_probability < options.certain || gene.cut_left || gene.cut_right)
        counted.masked.push_back({one.begin(), one.end()});
      else
        counted.genes.push_back(std::move(one));
    }
    all.push_back(std::move(counted));
  }
  return all;
}

// The scores of transitions as they were fitted, but for the log odds of the consensus of signals in them,
// which change with the composition.
void keep_transitions(const GeneModel& start, GeneModel& model) {
  const std::array<double, 4> before = composition_of(start), now = composition_of(model);
  for (std::size_t i = 0; i < model.transitions.size(); ++i)
    model.transitions[i].score = start.transitions[i].score +
                                 log_chance_of_signals(model, start.transitions[i], before) -
                                 log_chance_of_signals(model, start.transitions[i], now);
}

}  // namespace

GeneModel adapt_genes(const GeneModel& start, const std::vector<UnknownSequence>& sequences,
                      const std::string& fasta, const AdaptGenesOptions& options,
                      const std::function<void(const AdaptedRound&)>& report) {
  GeneModel model = start;
  if (options.genetic_code > 0) {
    set_genetic_code(options.genetic_code, model);
    keep_transitions(start, model);
  }
  std::set<GenePlace> before;
  for (int number = 1; number <= options.rounds; ++number) {
    std::set<GenePlace> places;
    const std::vector<CountedSequence> counted = predict(model, sequences, options, places);
    AdaptedRound round{number, std::ssize(places), 0, 0};
    for (const CountedSequence& one : counted) round.counted += std::ssize(one.genes);
    round.same = std::count_if(places.begin(), places.end(),
                               [&](const GenePlace& place) { return before.contains(place); });
    report(round);
    if (round.counted < kFewestGenes)
      throw InputError({fasta, "", fmt::format("{} genes that are certain", round.counted),
                        "give more sequences, or a model of a nearer genome"});
    before = std::move(places);
    count_genes(counted, model.contents.front().order, model);
    keep_transitions(start, model);
  }
  return model;
}

}  // namespace semicrf
