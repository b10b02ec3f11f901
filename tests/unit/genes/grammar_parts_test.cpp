// What a grammar of genes may have beside the usual: split stop codons, introns of the U12 spliceosome,
// untranslated regions.
#include <fmt/format.h>

#include <cmath>
#include <random>

#include "core/chain_model.h"
#include "genes/gene_features.h"
#include "genes/gene_model_file.h"
#include "genes/gene_path.h"
#include "genes/lattice/known_boundaries.h"
#include "genes/learn/gene_counts.h"
#include "genes/learn/learn_genes.h"
#include "genes/predict_genes.h"
#include "genes/sequence_source.h"
#include "genes/text/gene_outputs.h"
#include "genes/text/hints.h"
#include "genes/text/masked_sequence.h"
#include "support/catch.h"
#include "support/scratch_file.h"
#include "support/seeds.h"

namespace semicrf {
namespace {

constexpr GrammarParts kAll{true, true, true, true};

std::string random_bases(std::mt19937& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "ACGT"[random() % 4];
  return text;
}

// A transcript on a sequence, written from parts: u untranslated, i intron, c CDS.
struct MadeTranscript {
  std::string bases;
  CodingTranscript gene;

  MadeTranscript& add(char kind, const std::string& text) {
    const auto begin = static_cast<std::int64_t>(bases.size());
    bases += text;
    const CodingExon exon{begin, static_cast<std::int64_t>(bases.size())};
    if (kind == 'c') gene.exons.push_back(exon);
    if (kind == 'u') gene.untranslated.push_back(exon);
    return *this;
  }
  MadeTranscript other_strand() const {
    MadeTranscript out;
    for (auto c = bases.rbegin(); c != bases.rend(); ++c)
      out.bases += *c == 'A' ? 'T' : *c == 'T' ? 'A' : *c == 'C' ? 'G' : 'C';
    const auto length = static_cast<std::int64_t>(bases.size());
    const auto mirror = [&](const std::vector<CodingExon>& list, std::vector<CodingExon>& to) {
      for (auto one = list.rbegin(); one != list.rend(); ++one)
        to.push_back({length - one->end, length - one->begin});
    };
    out.gene = {gene.id, "", gene.strand == '+' ? '-' : '+', {}, {}};
    mirror(gene.exons, out.gene.exons), mirror(gene.untranslated, out.gene.untranslated);
    return out;
  }
};

MadeTranscript made(const std::string& before, const std::string& id) {
  MadeTranscript one;
  one.gene.id = id;
  return one.add(' ', before);
}

const std::string kIntron = "GTAAGTCCACCATTTACTAACTTTCCCCCTTTCCAG",
                  kU12 = "ATATCCTTACCCCCCCTCCTTAACTTCCCTTTCCAC";

// Whether the grammar knows the gene and the sequence agrees; the path must lead back to the gene.
bool is_possible(const GeneModel& model, const MadeTranscript& made) {
  bool possible = true;
  for (const MadeTranscript& one : {made, made.other_strand()}) {
    const GeneLattice lattice = compile(model, "m");
    const std::vector<std::uint8_t> bases = base_codes(one.bases);
    const auto length = static_cast<std::int64_t>(bases.size());
    const auto path = path_of_genes(model, lattice, bases, {one.gene}, 0, length);
    const bool found =
        path && features_of_path(model, lattice, SequenceSource(model, lattice, bases, 0, length), *path);
    if (one.gene.strand == '+') possible = found;
    CHECK(found == possible);  // on both strands
    if (!found) continue;
    const std::vector<PathGene> back = genes_of_path(model, lattice, *path, 0);
    REQUIRE(back.size() == 1);
    CHECK(back[0].strand == one.gene.strand);
    CHECK(back[0].exons == one.gene.exons);
    CHECK(back[0].untranslated == one.gene.untranslated);
  }
  return possible;
}

TEST_CASE("stop codons that an intron splits end a gene") {
  const GeneModel with = gene_grammar("eukaryote", {false, false, true, false});
  const GeneModel without = gene_grammar("eukaryote");
  const auto gene = [](const std::string& first, const std::string& last) {
    return made("CC", "t").add('c', "ATGGCAGCA" + first).add('i', kIntron).add('c', last).add(' ', "CCC");
  };
  const struct {
    const char *first, *last;
    bool with, without;
  } cases[] = {{"T", "AA", true, false},   {"T", "AG", true, false},    {"T", "GA", true, false},
               {"TA", "A", true, false},   {"TA", "G", true, false},    {"TG", "A", true, false},
               {"TG", "G", false, false},  {"T", "AC", false, false},   {"C", "AA", false, false},
               {"", "TAA", true, false},   {"", "TAC", false, false},   {"", "GCATAA", true, true},
               {"T", "ACTAA", true, true}, {"T", "AATAA", false, true}, {"TA", "GTAA", false, true},
               {"TG", "GTAA", true, true}, {"TG", "ATAA", false, true}, {"G", "AATAA", true, true},
               {"GA", "ATAA", true, true}, {"T", "AATA", false, false}};
  for (const auto& one : cases) {
    CAPTURE(one.first, one.last);
    CHECK(is_possible(with, gene(one.first, one.last)) == one.with);
    CHECK(is_possible(without, gene(one.first, one.last)) == one.without);
  }
}

TEST_CASE("introns of the U12 spliceosome") {
  const GeneModel with = gene_grammar("eukaryote", {false, true, false, false});
  const GeneModel both = gene_grammar("eukaryote", {false, true, true, false});
  const GeneModel without = gene_grammar("eukaryote");
  const auto gene = [](const std::string& intron) {
    return made("CC", "t").add('c', "ATGGCAGCAG").add('i', intron).add('c', "CATAA").add(' ', "CCC");
  };
  std::string gt_ag = kU12;
  gt_ag[0] = 'G', gt_ag.back() = 'G';
  const std::string at_aa = kU12.substr(0, kU12.size() - 2) + "AA";
  for (const GeneModel& model : {with, both}) {
    CHECK(is_possible(model, gene(kU12)));
    CHECK(is_possible(model, gene(gt_ag)));
    CHECK(is_possible(model, gene(kIntron)));
    CHECK(!is_possible(model, gene(at_aa)));
  }
  CHECK(!is_possible(without, gene(kU12)));
  CHECK(is_possible(without, gene(gt_ag)));
  // One kind of intron, so that nothing counts twice.
  const GeneLattice lattice = compile(with, "m");
  const std::vector<std::uint8_t> bases = base_codes(gene(gt_ag).bases);
  const SignalSites sites(with, lattice, bases);
  int donors = 0;
  for (const StrandedModel& signal : lattice.signals)
    if (signal.strand == '+' &&
        with.signals[static_cast<std::size_t>(signal.model)].name.starts_with("donor"))
      donors += sites.stands_at(signal, 12) ? 1 : 0;
  CHECK(donors == 1);
}

TEST_CASE("untranslated regions, with introns and without") {
  const GeneModel with = gene_grammar("fungus", {false, false, false, true});
  const GeneModel all = gene_grammar("eukaryote", kAll);
  const GeneModel without = gene_grammar("fungus");
  const std::string coding = "ATGGCAGCAGCATAA";
  const std::vector<MadeTranscript> list{
      made("CC", "t").add('u', "CCCC").add('c', coding).add('u', "TTT").add(' ', "CCC"),
      made("CC", "t").add('u', "C").add('c', coding).add(' ', "CCC"),
      made("CC", "t").add('c', coding).add('u', "T").add(' ', "CCC"),
      made("CC", "t").add('u', "CC").add('i', kIntron).add('u', "CC").add('c', coding).add(' ', "CC"),
      made("CC", "t").add('u', "CC").add('i', kIntron).add('c', coding).add('u', "CC").add(' ', "CC"),
      made("CC", "t").add('c', coding).add('i', kIntron).add('u', "CC").add(' ', "CC"),
      made("CC", "t").add('c', coding).add('u', "A").add('i', kIntron).add('u', "CC").add(' ', "CC")};
  for (const MadeTranscript& one : list) {
    CHECK(is_possible(with, one));
    CHECK(is_possible(all, one));
    CHECK(!is_possible(without, one));
  }
  CHECK(is_possible(with, made("CC", "t").add('c', coding).add(' ', "CC")));
  CHECK(!is_possible(with, made("CC", "t")
                               .add('u', "CC")
                               .add('i', "GTAA" + kIntron.substr(0, 20))
                               .add('c', coding)
                               .add(' ', "CC")));  // no acceptor
}

TEST_CASE("an intron of the U12 spliceosome as a hint") {
  const GeneModel model = gene_grammar("eukaryote", {false, true, false, false});
  const GeneLattice lattice = compile(model, "m");
  const std::string text = "CCCATGGCAGCAG" + kU12 + "CATAACCC";
  const std::vector<std::uint8_t> bases = base_codes(text);
  const SequenceSource source(model, lattice, bases, 0, static_cast<std::int64_t>(bases.size()));
  const std::string line = fmt::format("s\t.\tintron\t14\t{}\t.\t+\t.\t.\n", 13 + kU12.size());
  const test::ScratchFile file({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
  HintUse use;
  use.constraints = true;
  const HintedSequence hinted(model, lattice, source, read_hints(file.path()), "s", use, '.');
  const PredictedSequence found = predict_genes(model, hinted.lattice(), hinted, 1);
  REQUIRE(found.genes.size() == 1);
  CHECK(found.genes[0].exons.size() == 2);
  CHECK(found.genes[0].exons[0].exon == CodingExon{3, 13});
}

TEST_CASE("lower case lowers the scores of coding sequence, window by window") {
  const std::string text = "acgtNNACnTGaaTTGg";
  const auto masked = masked_stretches(text);
  CHECK(masked == std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 4}, {8, 9}, {11, 13}, {16, 17}});
  const GeneModel model = gene_grammar("eukaryote");
  const GeneLattice lattice = compile(model, "m");
  const std::vector<std::uint8_t> bases = base_codes(text);
  const auto length = static_cast<std::int64_t>(bases.size());
  const SequenceSource source(model, lattice, bases, 0, length);
  const MaskedSequence sequence(model, lattice, source, masked, 0.5);
  const std::size_t columns = lattice.columns.size();
  LatticeWindow plain, lowered;
  for (std::int64_t begin = 0; begin < length; ++begin)
    for (std::int64_t end = begin + 1; end <= length; ++end) {
      source.read(begin, end, plain), sequence.read(begin, end, lowered);
      for (std::size_t i = 0; i < plain.content.size(); ++i) {
        const char letter = text[static_cast<std::size_t>(begin) + i / columns];
        const StrandedModel& column = lattice.columns[i % columns];
        const bool codons = model.contents[static_cast<std::size_t>(column.model)].codons;
        CHECK(lowered.content[i] == plain.content[i] - (codons && letter >= 'a' ? 0.5F : 0.0F));
      }
    }
}

// Rewards for genes, so that a random sequence is full of them.
GeneModel eager(GeneModel model) {
  for (LengthModel& one : model.lengths)
    if (one.name == "intergenic") one.log_tail = -0.5;
  return model;
}

TEST_CASE("no gene has a stop codon but its last, and the probabilities of its parts are exact") {
  std::mt19937 random(testing::test_seed(51));
  const auto parts = GENERATE(GrammarParts{false, false, true, false}, GrammarParts{true, false, true, true});
  const GeneModel model = eager(gene_grammar("fungus", parts));
  const GeneLattice lattice = compile(model, "m");
  GeneLattice constrained = lattice;
  constrained.lattice = constrained_lattice(lattice.lattice);
  std::size_t genes = 0, split = 0, untranslated = 0;
  for (int turn = 0; turn < 12; ++turn) {
    const std::vector<std::uint8_t> bases = base_codes(random_bases(random, 1200));
    const auto length = static_cast<std::int64_t>(bases.size());
    const PredictedSequence found = predict_genes(model, lattice, bases, 1);
    const SequenceSource source(model, lattice, bases, 0, length);
    for (const PredictedGene& gene : found.genes) {
      genes += 1, untranslated += gene.untranslated.size();
      const CodingExon& last = gene.strand == '+' ? gene.exons.back().exon : gene.exons.front().exon;
      split += last.end - last.begin < 3 ? 1 : 0;
      std::vector<CodingExon> exons;
      for (const PredictedExon& exon : gene.exons) exons.push_back(exon.exon);
      const std::vector<int> coding = spliced(bases, exons, gene.strand);
      REQUIRE(coding.size() % 3 == 0);
      for (std::size_t i = 0; i < coding.size(); i += 3)
        CHECK(CodonTable(1).is_stop(coding[i], coding[i + 1], coding[i + 2]) == (i + 3 == coding.size()));
      // Constraints must give the same: all its boundaries are there and no others between them.
      const auto path = path_of_genes(model, lattice, bases, {{"t", "", gene.strand, exons}}, 0, length);
      REQUIRE(path);
      KnownBoundaries known;
      for (std::size_t i = 1; i < path->size(); ++i)
        known.boundaries.push_back({(*path)[i].begin, ~std::uint64_t{0}});
      known.closed.emplace_back(exons.front().begin, exons.back().end);
      const auto bit = [](int signal) { return signal < 0 ? 0 : std::uint64_t{1} << signal; };
      const auto& labels = lattice.lattice.labels;
      for (std::size_t i = 2; i + 1 < path->size(); ++i)
        known.boundaries[i - 1].signals =
            bit(labels[static_cast<std::size_t>((*path)[i - 1].label)].end_signal) |
            bit(labels[static_cast<std::size_t>((*path)[i].label)].start_signal);
      if (known.boundaries.size() > 2) {
        const double log_z =
            expected_features(model, constrained,
                              KnownBoundarySource(lattice.lattice.barriers, source, known), source)
                .log_z;
        CHECK(gene.probability <= std::exp(log_z - found.log_z) + 1e-6);
      }
      CHECK(gene.transcript_probability <= gene.probability + 1e-9);
      CHECK(gene.probability <= gene.start_probability + 1e-9);
      CHECK(gene.probability <= gene.stop_probability + 1e-9);
      for (const PredictedExon& exon : gene.whole_exons)
        CHECK(gene.transcript_probability <= exon.probability + 1e-9);
    }
  }
  CHECK(genes > 12);
  CAPTURE(split, untranslated);
  if (parts.untranslated) CHECK(untranslated > 0);
}

TEST_CASE("what the parts of a grammar count is learned from their sites") {
  std::mt19937 random(testing::test_seed(52));
  std::string text;
  AnnotatedSequence sequence{"s", {}, {}, nullptr};
  for (int n = 0; n < 36; ++n) {
    const std::string codons = [&] {
      std::string all;
      for (int i = 0; i < 40; ++i) all += "GC" + std::string(1, "ACGT"[random() % 4]);
      return all;
    }();
    MadeTranscript one = made(random_bases(random, 100), "t" + std::to_string(n));
    one.add('u', "CTCTCTCTCC");
    if (n % 2 == 0) one.add('i', kIntron).add('u', "CTCTCT");
    one.add('c', "ATG" + codons + (n % 3 == 0 ? "T" : "G")).add('i', n % 5 == 1 ? kU12 : kIntron);
    one.add('c', n % 3 == 0 ? "AA" : "CC" + codons + "TAA").add('u', "TCTCTCTCTCTC").add(' ', "CC");
    if (n % 3 == 0 && n % 5 == 1) continue;  // a U12 intron does not split a stop codon
    if (n % 4 == 1) one = one.other_strand();
    const auto at = static_cast<std::int64_t>(text.size());
    for (auto* list : {&one.gene.exons, &one.gene.untranslated})
      for (CodingExon& exon : *list) exon.begin += at, exon.end += at;
    text += one.bases;
    sequence.transcripts.push_back(one.gene);
  }
  sequence.bases = base_codes(text);
  LearnGenesOptions options;
  options.grammar = "fungus", options.parts = kAll, options.order = 1, options.iterations = 4;
  const LearnGenesResult learned = learn_genes({sequence}, "a", options, [](int, double) {});
  CHECK(learned.impossible.empty());
  CHECK(learned.genes == static_cast<std::int64_t>(sequence.transcripts.size()));
  const std::string file_text = gene_model_text(learned.model);
  CHECK(file_text.find("\"format_version\":\"1.2\"") != std::string::npos);
  const test::ScratchFile file({reinterpret_cast<const std::uint8_t*>(file_text.data()), file_text.size()});
  const GeneModel model = read_gene_model(file.path());
  CHECK(gene_model_text(model) == file_text);
  const GeneLattice lattice = compile(model, "m");
  const PredictedSequence found = predict_genes(model, lattice, sequence.bases, 2);
  std::size_t same = 0, with_utr = 0;
  for (const PredictedGene& gene : found.genes)
    for (const CodingTranscript& truth : sequence.transcripts) {
      std::vector<CodingExon> exons, untranslated;
      for (const PredictedExon& exon : gene.exons) exons.push_back(exon.exon);
      for (const PredictedExon& part : gene.untranslated) untranslated.push_back(part.exon);
      if (truth.exons != exons || truth.strand != gene.strand) continue;
      same += 1;
      with_utr += truth.untranslated == untranslated ? 1 : 0;
    }
  CHECK(same > sequence.transcripts.size() * 9 / 10);
  CHECK(with_utr > sequence.transcripts.size() / 3);
  const std::string gff = gff_text("s", found);
  CHECK(gff.find("five_prime_UTR") != std::string::npos);
  CHECK(gff.find("three_prime_UTR") != std::string::npos);
}

}  // namespace
}  // namespace semicrf
