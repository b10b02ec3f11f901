// Genes that overlap: their paths, what is impossible, and the probability of each beside its neighbours.
#include <cmath>
#include <random>

#include "core/chain_model.h"
#include "core/error.h"
#include "genes/gene_features.h"
#include "genes/gene_path.h"
#include "genes/lattice/known_boundaries.h"
#include "genes/learn/adapt_genes.h"
#include "genes/learn/gene_counts.h"
#include "genes/predict_genes.h"
#include "genes/sequence_source.h"
#include "support/catch.h"
#include "support/seeds.h"

namespace semicrf {
namespace {

std::string flipped(std::string text) {
  std::string out;
  for (auto c = text.rbegin(); c != text.rend(); ++c)
    out += *c == 'A' ? 'T' : *c == 'T' ? 'A' : *c == 'C' ? 'G' : 'C';
  return out;
}

std::string bases_of(std::mt19937& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "ACGT"[random() % 4];
  return text;
}

std::string codons_of(std::mt19937& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i)
    text += std::string("GCA").substr(random() % 3, 1) + "ACGT"[random() % 4] + "CG"[random() % 2];
  return text;
}

struct Pair {
  std::string name, bases;
  std::vector<CodingTranscript> genes;
};

// Two genes that share some bases or touch, and what lies around them.
std::vector<Pair> made_pairs(std::mt19937& random, int count) {
  const auto codons = [&] { return codons_of(random, count); };
  const std::string left = bases_of(random, 60), right = bases_of(random, 60);
  const auto at = static_cast<std::int64_t>(left.size());
  const auto pair = [&](const std::string& name, const std::string& bases, std::size_t first_end,
                        std::size_t second_begin, const char* strands) {
    const auto end = at + static_cast<std::int64_t>(first_end),
               whole = static_cast<std::int64_t>(bases.size());
    return Pair{name,
                left + bases + right,
                {{"a", "", strands[0], {{at, end}}},
                 {"b", "", strands[1], {{at + static_cast<std::int64_t>(second_begin), at + whole}}}}};
  };
  const std::string head = "ATG" + codons() + "GC", tail = "CC" + codons() + "TAA";
  const std::string one = "ATG" + codons() + "TAA";
  std::vector<Pair> pairs;
  pairs.push_back(pair("four bases", head + "ATGA" + tail, head.size() + 4, head.size(), "++"));
  pairs.push_back(pair("one base", "ATG" + codons() + "TA" + "ATGC" + tail,
                       3 + 3 * static_cast<std::size_t>(count) + 3,
                       3 + 3 * static_cast<std::size_t>(count) + 2, "++"));
  pairs.push_back(pair("touching", one + one, one.size(), one.size(), "++"));
  pairs.push_back(pair("convergent", head + "TTAA" + "GC" + flipped(codons()) + "CAT", head.size() + 4,
                       head.size(), "+-"));
  const std::string before = "TTA" + flipped(codons()) + "GG";
  pairs.push_back(pair("divergent", before + "ATGCCAT" + tail, before.size() + 7, before.size(), "-+"));
  for (std::size_t i = 0; i < 3; ++i) {  // the same from the other side
    const Pair& there = pairs[i];
    const auto length = static_cast<std::int64_t>(there.bases.size());
    Pair back{there.name + ", flipped", flipped(there.bases), {}};
    for (const CodingTranscript& gene : {there.genes[1], there.genes[0]})
      back.genes.push_back({gene.id, "", '-', {{length - gene.end(), length - gene.begin()}}});
    pairs.push_back(back);
  }
  return pairs;
}

std::optional<GeneFeatures> features(const GeneModel& model, const GeneLattice& lattice,
                                     const std::vector<std::uint8_t>& bases,
                                     const std::vector<CodingTranscript>& genes) {
  const auto length = static_cast<std::int64_t>(bases.size());
  const auto path = path_of_genes(model, lattice, bases, genes, 0, length);
  if (!path) return std::nullopt;
  const std::vector<PathGene> back = genes_of_path(model, lattice, *path, 0);
  REQUIRE(back.size() == genes.size());
  for (std::size_t i = 0; i < genes.size(); ++i) {
    CHECK(back[i].strand == genes[i].strand);
    CHECK(back[i].exons == genes[i].exons);
  }
  return features_of_path(model, lattice, SequenceSource(model, lattice, bases, 0, length), *path);
}

TEST_CASE("genes that share bases are paths of bacteria, and of no others") {
  std::mt19937 random(testing::test_seed(11));
  const GeneModel model = gene_grammar("prokaryote"), other = gene_grammar("fungus");
  const GeneLattice lattice = compile(model, "m"), other_lattice = compile(other, "m");
  for (const Pair& pair : made_pairs(random, 15)) {
    CAPTURE(pair.name, pair.bases);
    const std::vector<std::uint8_t> bases = base_codes(pair.bases);
    CHECK(features(model, lattice, bases, pair.genes));
    CHECK(!features(other, other_lattice, bases, pair.genes));
  }
  // The codon of the first gene over the start of the second is a stop codon: it does not end later.
  const std::vector<CodingTranscript> both{{"a", "", '+', {{2, 23}}}, {"b", "", '+', {{10, 31}}}};
  CHECK(!features(model, lattice, base_codes("CCATGGCCTAATGCCTGACCTGAACGCCTAACC"), both));
  CHECK(features(model, lattice, base_codes("CCATGGCCTCATGCCTGACCTGAACGCCTAACC"), both));
}

// The sum over all that the neighbours of a gene may share with it, each computed over the whole sequence,
// where the signals at the end with the start codon are `at_start`.
double sum_by_constraints(const GeneModel& model, const GeneLattice& lattice, const SequenceSource& source,
                          const PredictedGene& gene, double log_z, std::uint64_t at_start) {
  GeneLattice constrained = lattice;
  constrained.lattice = constrained_lattice(lattice.lattice);
  const std::int64_t begin = gene.exons[0].exon.begin, end = gene.exons[0].exon.end;
  LatticeWindow window;
  source.read(begin, end + 1, window);
  // All that stands at the two ends of the gene on its strand, and what a neighbour has within.
  std::vector<std::int64_t> lefts{-1}, rights{-1};
  for (const LatticeWindow::Event& event : window.events)
    if (event.boundary > begin && event.boundary < end)
      lefts.push_back(event.boundary), rights.push_back(event.boundary);
  double sum = 0;
  for (const std::int64_t left : lefts)
    for (const std::int64_t right : rights) {
      // Where the stop codon begins is no boundary of a neighbour.
      const bool plus = gene.strand == '+';
      if ((left >= 0 && right >= 0 && right <= left) || (plus ? right == end - 3 : left == begin + 3))
        continue;
      KnownBoundaries known;
      const auto all = ~std::uint64_t{0};
      known.boundaries.push_back({begin, plus ? at_start : all});
      if (!plus && left < 0) known.boundaries.push_back({begin + 3, all});
      if (left >= 0) known.boundaries.push_back({left, all});
      if (right >= 0) known.boundaries.push_back({right, all});
      if (plus && right < 0) known.boundaries.push_back({end - 3, all});
      known.boundaries.push_back({end, plus ? all : at_start});
      if (!std::is_sorted(known.boundaries.begin(), known.boundaries.end(),
                          [](const auto& a, const auto& b) { return a.at < b.at; }) ||
          std::adjacent_find(known.boundaries.begin(), known.boundaries.end(),
                             [](const auto& a, const auto& b) { return a.at == b.at; }) !=
              known.boundaries.end())
        continue;
      known.closed.emplace_back(begin, end);
      const KnownBoundarySource only(lattice.lattice.barriers, source, known);
      visit_marginals(
          constrained.lattice, only, 1, [&](std::size_t, double, const LatticeMessages& messages) {
            // Of the paths with these boundaries, those in which the gene is there: it is what
            // begins at `begin`.
            for (std::size_t i = 0; i < messages.forward->events.size(); ++i) {
              const LatticeNodes::Event& there = messages.forward->events[i];
              if (there.boundary != (left >= 0 ? left : plus ? begin : begin + 3)) continue;
              const LatticeNodes::Event& mirrored = messages.backward->events[messages.mirrored(i)];
              for (std::size_t n = 0; n < there.step->beginnings.size(); ++n) {
                const GeneLabel& label =
                    lattice.labels[static_cast<std::size_t>(there.step->beginnings[n].label)];
                const GeneState& state = model.states[static_cast<std::size_t>(label.state)];
                if (state.content < 0 || label.strand != gene.strand ||
                    label.frame != static_cast<int>(begin % 3))
                  continue;
                sum += std::exp(messages.forward->beginnings[there.first_beginning + n] +
                                messages.backward->endings[mirrored.first_ending + n] - log_z);
              }
            }
          });
    }
  return sum;
}

// Without the paths in which the neighbour ends where the gene would start, and another gene starts inside.
double probability_by_constraints(const GeneModel& model, const GeneLattice& lattice,
                                  const SequenceSource& source, const PredictedGene& gene, double log_z) {
  std::uint64_t starts = 0;
  for (std::size_t s = 0; s < lattice.signals.size(); ++s)
    if (lattice.signals[s].strand == gene.strand &&
        model.signals[static_cast<std::size_t>(lattice.signals[s].model)].name == "start")
      starts |= std::uint64_t{1} << s;
  const auto all = ~std::uint64_t{0};
  return sum_by_constraints(model, lattice, source, gene, log_z, all) -
         sum_by_constraints(model, lattice, source, gene, log_z, all & ~starts);
}

TEST_CASE("the probability of a gene counts all that its neighbours may share with it") {
  std::mt19937 random(testing::test_seed(12));
  GeneModel model = gene_grammar("prokaryote");
  // Longer genes are learned from than tested with, so that nothing is certain.
  std::string text;
  std::vector<CodingTranscript> genes;
  for (int n = 0; n < 12; ++n)
    for (const Pair& pair : made_pairs(random, 30)) {
      for (CodingTranscript gene : pair.genes) {
        for (CodingExon& exon : gene.exons)
          exon.begin += static_cast<std::int64_t>(text.size()),
              exon.end += static_cast<std::int64_t>(text.size());
        genes.push_back(gene);
      }
      text += pair.bases;
    }
  const std::vector<std::uint8_t> learned = base_codes(text);
  count_genes({{&learned, genes, {}}}, 1, model);
  const GeneLattice lattice = compile(model, "m");
  int seen = 0, unsure = 0;
  std::vector<Pair> tested;
  for (const int count : {2, 3, 4, 6})
    for (const Pair& pair : made_pairs(random, count)) tested.push_back(pair);
  for (const Pair& pair : tested) {
    CAPTURE(pair.name, pair.bases);
    const std::vector<std::uint8_t> bases = base_codes(pair.bases);
    const SequenceSource source(model, lattice, bases, 0, static_cast<std::int64_t>(bases.size()));
    const PredictedSequence found = predict_genes(model, lattice, bases, 1);
    for (const PredictedGene& gene : found.genes) {
      const double p = probability_by_constraints(model, lattice, source, gene, found.log_z);
      CAPTURE(p, gene.probability, gene.strand, gene.exons[0].exon.begin, gene.exons[0].exon.end);
      CHECK(std::abs(p - gene.probability) < 1e-9);
      CHECK(gene.probability <= gene.start_probability + 1e-9);
      CHECK(gene.probability <= gene.stop_probability + 1e-9);
      seen += 1, unsure += p < 0.999 ? 1 : 0;
    }
  }
  CHECK(seen >= 10);
  CHECK(unsure >= 3);
}

// Genes of some length, apart from each other, from which a model is counted.
std::string counted_genome(std::mt19937& random, const char* stop, int count,
                           std::vector<CodingTranscript>& genes) {
  std::string text;
  for (int n = 0; n < count; ++n) {
    text += bases_of(random, 80 + static_cast<int>(random() % 100));
    const auto at = static_cast<std::int64_t>(text.size());
    const std::string gene = "ATG" + codons_of(random, 60 + static_cast<int>(random() % 60)) + stop;
    text += n % 2 == 0 ? gene : flipped(gene);
    genes.push_back({"t", "", n % 2 == 0 ? '+' : '-', {{at, static_cast<std::int64_t>(text.size())}}});
  }
  return text + bases_of(random, 100);
}

TEST_CASE("a model fits itself to what it finds with certainty") {
  std::mt19937 random(testing::test_seed(13));
  std::vector<CodingTranscript> genes, other_genes;
  const std::vector<std::uint8_t> learned = base_codes(counted_genome(random, "TAA", 60, genes));
  const std::string text = counted_genome(random, "TAG", 40, other_genes);
  GeneModel start = gene_grammar("prokaryote");
  count_genes({{&learned, genes, {}}}, 2, start);
  for (ContentModel& content : start.contents) content.weight = 0.9;
  AdaptGenesOptions options;
  options.rounds = 2;
  std::vector<AdaptedRound> rounds;
  const auto report = [&](const AdaptedRound& round) { rounds.push_back(round); };
  const GeneModel own = adapt_genes(start, {{"s", base_codes(text)}}, "f", options, report);
  REQUIRE(rounds.size() == 2);
  CHECK(rounds[0].number == 1);
  CHECK(rounds[0].same == 0);
  CHECK(rounds[0].counted >= 36);
  CHECK(rounds[0].counted <= rounds[0].genes);
  CHECK(rounds[1].same >= 36);
  // Weights stay, tables are counted anew: the stop codons are others.
  CHECK(own.contents[0].weight == 0.9);
  const auto stop_of = [](const GeneModel& model) {
    const SignalModel& stop = model.signals[1];
    return stop.log_odds[static_cast<std::size_t>(2 - stop.first)];
  };
  CHECK(stop_of(start)[0] > stop_of(start)[2]);  // TAA
  CHECK(stop_of(own)[2] > stop_of(own)[0]);      // TAG
  // A gene that the end of the sequence cuts off is not counted.
  const std::string cut = text.substr(static_cast<std::size_t>(other_genes[0].begin()) + 90);
  rounds.clear();
  options.rounds = 1;
  adapt_genes(start, {{"s", base_codes(cut)}}, "f", options, report);
  CHECK(rounds[0].genes > rounds[0].counted);
  CHECK_THROWS_AS(adapt_genes(start, {{"s", base_codes(text.substr(0, 800))}}, "f", options, report),
                  InputError);
}

}  // namespace
}  // namespace semicrf
