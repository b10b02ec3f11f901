// Gene models: paths and genes, features and their derivatives, files.
#include <cmath>
#include <random>

#include "core/error.h"
#include "genes/gene_features.h"
#include "genes/gene_model_file.h"
#include "genes/gene_path.h"
#include "genes/lattice/known_boundaries.h"
#include "genes/learn/gene_counts.h"
#include "genes/learn/site_motif.h"
#include "genes/learn/usual_model.h"
#include "genes/predict_genes.h"
#include "genes/sequence_source.h"
#include "support/catch.h"
#include "support/scratch_file.h"
#include "support/seeds.h"

namespace semicrf {
namespace {

std::string reversed(std::string text) {
  std::string out;
  for (auto c = text.rbegin(); c != text.rend(); ++c)
    out += *c == 'A' ? 'T' : *c == 'T' ? 'A' : *c == 'C' ? 'G' : 'C';
  return out;
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string random_bases(std::mt19937& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "ACGT"[random() % 4];
  return text;
}

// Codons without a stop.
std::string codons(std::mt19937& random, int count) {
  std::string text;
  while (static_cast<int>(text.size()) < 3 * count) {
    const std::string codon = std::string("GCA").substr(random() % 3, 1) + random_bases(random, 2);
    text += codon;
  }
  return text;
}

// A gene of two exons with a split codon, from its start codon to its stop codon.
struct MadeGene {
  std::string bases;
  std::vector<CodingExon> exons;
};
MadeGene made_gene(std::mt19937& random) {
  const std::string coding = "ATG" + codons(random, 30 + static_cast<int>(random() % 60)) + "TAA";
  const std::size_t cut = 20 + random() % 30;
  const std::string intron =
      "GTAAGT" + random_bases(random, 40) + "TACTAAC" + random_bases(random, 15) + "CAG";
  MadeGene gene{coding.substr(0, cut) + intron + coding.substr(cut), {}};
  gene.exons = {
      {0, static_cast<std::int64_t>(cut)},
      {static_cast<std::int64_t>(cut + intron.size()), static_cast<std::int64_t>(gene.bases.size())}};
  return gene;
}

struct MadeGenome {
  std::string bases;
  std::vector<CodingTranscript> genes;
};
MadeGenome made_genome(std::mt19937& random, int count) {
  MadeGenome genome;
  for (int n = 0; n < count; ++n) {
    genome.bases += random_bases(random, 100 + static_cast<int>(random() % 200));
    const auto at = static_cast<std::int64_t>(genome.bases.size());
    MadeGene gene = made_gene(random);
    const auto length = static_cast<std::int64_t>(gene.bases.size());
    CodingTranscript transcript{"t" + std::to_string(n), "", n % 2 == 0 ? '+' : '-', {}};
    if (transcript.strand == '-') {
      gene.bases = reversed(gene.bases);
      gene.exons = {{length - gene.exons[1].end, length - gene.exons[1].begin},
                    {length - gene.exons[0].end, length - gene.exons[0].begin}};
    }
    for (const CodingExon& exon : gene.exons) transcript.exons.push_back({at + exon.begin, at + exon.end});
    genome.bases += gene.bases;
    genome.genes.push_back(transcript);
  }
  genome.bases += random_bases(random, 100);
  return genome;
}

TEST_CASE("genes become a possible path and come back from it") {
  std::mt19937 random(testing::test_seed(2));
  const MadeGenome genome = made_genome(random, 12);
  const std::vector<std::uint8_t> bases = base_codes(genome.bases);
  const GeneModel model = gene_grammar("fungus");
  const GeneLattice lattice = compile(model, "m");
  const auto length = static_cast<std::int64_t>(bases.size());
  for (const std::int64_t begin : {0, 1, 50}) {  // frames are those of the sequence, not of the piece
    const auto path = path_of_genes(model, lattice, bases, genome.genes, begin, length);
    REQUIRE(path);
    CHECK(features_of_path(model, lattice, SequenceSource(model, lattice, bases, begin, length), *path));
    const std::vector<PathGene> back = genes_of_path(model, lattice, *path, begin);
    REQUIRE(back.size() == genome.genes.size());
    for (std::size_t i = 0; i < back.size(); ++i) {
      CHECK(back[i].strand == genome.genes[i].strand);
      CHECK(back[i].exons == genome.genes[i].exons);
    }
  }
}

TEST_CASE("a path is impossible without its signals and with stop codons in its exons") {
  const GeneModel model = gene_grammar("prokaryote");
  const GeneLattice lattice = compile(model, "m");
  const auto possible = [&](const std::string& text, std::int64_t begin, std::int64_t end, char strand) {
    const std::vector<std::uint8_t> bases = base_codes(text);
    const auto length = static_cast<std::int64_t>(bases.size());
    const auto path = path_of_genes(model, lattice, bases, {{"t", "", strand, {{begin, end}}}}, 0, length);
    return path && features_of_path(model, lattice, SequenceSource(model, lattice, bases, 0, length), *path);
  };
  CHECK(possible("CCATGGCAGCATAACC", 2, 14, '+'));
  CHECK(possible("CCGTGGCAGCATAACC", 2, 14, '+'));
  CHECK(possible(reversed("CCATGGCAGCATAACC"), 2, 14, '-'));
  CHECK(!possible("CCATGGCAGCATAACC", 2, 14, '-'));
  CHECK(!possible("CCACGGCAGCATAACC", 2, 14, '+'));   // no start codon
  CHECK(!possible("CCATGGCAGCATCACC", 2, 14, '+'));   // no stop codon
  CHECK(!possible("CCATGTAGGCATAACC", 2, 14, '+'));   // a stop codon before it
  CHECK(possible("CCATGGTAGCATAACC", 2, 14, '+'));    // one in another frame
  CHECK(!possible("CCATGGCAGCAATAACC", 2, 15, '+'));  // half a codon
}

TEST_CASE("the genetic code says which codons stop") {
  CHECK(CodonTable(11).stops() == std::vector<std::string>{"TAA", "TAG", "TGA"});
  CHECK(CodonTable(4).stops() == std::vector<std::string>{"TAA", "TAG"});
  CHECK(CodonTable(6).stops() == std::vector<std::string>{"TGA"});
  CHECK(CodonTable(4).amino_acid(3, 2, 0) == 'W');
  CHECK(CodonTable(12).amino_acid(1, 3, 2) == 'S');
  CHECK(CodonTable(1).amino_acid(1, 3, 2) == 'L');
  CHECK(CodonTable(1).amino_acid(1, 4, 2) == 'X');
  const auto possible = [&](int code, const std::string& grammar, const std::string& gene) {
    const GeneModel model = gene_grammar(grammar, {false, false, true, false}, code);
    const GeneLattice lattice = compile(model, "m");
    for (const bool minus : {false, true}) {
      const std::string text = "CC" + gene + "CC";
      const std::vector<std::uint8_t> bases = base_codes(minus ? reversed(text) : text);
      const auto length = static_cast<std::int64_t>(bases.size());
      const auto path =
          path_of_genes(model, lattice, bases, {{"t", "", minus ? '-' : '+', {{2, length - 2}}}}, 0, length);
      const bool there =
          path && features_of_path(model, lattice, SequenceSource(model, lattice, bases, 0, length), *path);
      if (!there) return false;
    }
    return true;
  };
  for (const char* grammar : {"prokaryote", "eukaryote"}) {
    CHECK(possible(4, grammar, "ATGTGAGCATAA"));
    CHECK(!possible(11, grammar, "ATGTGAGCATAA"));
    CHECK(!possible(4, grammar, "ATGGCAGCATGA"));
    CHECK(possible(6, grammar, "ATGTAATAGTGA"));
    CHECK(!possible(6, grammar, "ATGGCAGCATAA"));
  }
  // Where an intron splits TGA, it goes on in code 4 and ends a gene in the standard one.
  for (const int code : {1, 4}) {
    const GeneModel model = gene_grammar("eukaryote", {false, false, true, false}, code);
    const GeneLattice lattice = compile(model, "m");
    const std::string intron = "GTAAGTCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCAG";
    const auto at = static_cast<std::int64_t>(10 + intron.size());
    const std::vector<std::uint8_t> bases = base_codes("CCATGCCCTG" + intron + "ACCCTAACC");
    const CodingTranscript gene{"t", "", '+', {{2, 10}, {at, at + 7}}};
    const auto length = static_cast<std::int64_t>(bases.size());
    const auto path = path_of_genes(model, lattice, bases, {gene}, 0, length);
    CHECK((path && features_of_path(model, lattice, SequenceSource(model, lattice, bases, 0, length),
                                    *path)) == (code == 4));
  }
  GeneModel model = gene_grammar("prokaryote");
  model.contents[0].order = 2;
  for (std::vector<float>& table : model.contents[0].tables) table.assign(64, -3);
  const std::string standard = gene_model_text(model);
  CHECK(standard.find("genetic_code") == standard.npos);
  set_genetic_code(4, model);
  CHECK(model.contents[0].tables[2][3 * 16 + 2 * 4] == 0);  // TGA
  CHECK(model.contents[0].tables[2][3 * 16] == -3);         // TAA
  const std::string text = gene_model_text(model);
  CHECK(text.find("\"format_version\":\"1.3\"") != text.npos);
  const test::ScratchFile file(bytes_of(text));
  CHECK(read_gene_model(file.path()).genetic_code == 4);
  std::string other = text;
  other.replace(other.find("\"genetic_code\":4"), 16, "\"genetic_code\":2");
  const test::ScratchFile wrong(bytes_of(other));
  CHECK_THROWS_AS(read_gene_model(wrong.path()), InputError);
}

TEST_CASE("a grammar with usual lengths has laws and codons that add up to 1") {
  const std::string kind = GENERATE("prokaryote", "fungus", "eukaryote");
  const int code = GENERATE(1, 6);
  const bool introns = kind != "prokaryote";
  const GeneModel model = usual_gene_model(kind, {introns, introns, introns, introns}, code);
  CAPTURE(kind, code);
  for (const LengthModel& law : model.lengths) {
    CAPTURE(law.name);
    double sum = 0;
    for (const double score : law.table) sum += std::exp(score);
    if (law.log_tail > kNegativeInfinity)
      sum += std::exp(law.table.back() + law.log_tail) / (1 - std::exp(law.log_tail));
    CHECK(std::abs(sum - 1) < 0.05);
  }
  const std::vector<std::vector<float>>& tables = model.contents[0].tables;
  const CodonTable codons(code);
  for (const auto& table : tables)
    for (std::size_t context = 0; context < 64; context += 4) {
      double sum = 0;
      for (std::size_t b = 0; b < 4; ++b) sum += 0.25 * std::exp(static_cast<double>(table[context + b]));
      CHECK(std::abs(sum - 1) < 2e-3);
    }
  for (int i = 0; i < 64; ++i) {  // each codon as probable as any other
    const double sum = static_cast<double>(tables[0][static_cast<std::size_t>(i / 16)]) +
                       static_cast<double>(tables[1][static_cast<std::size_t>(i / 4)]) +
                       static_cast<double>(tables[2][static_cast<std::size_t>(i)]);
    if (!codons.is_stop(i / 16, i / 4 % 4, i % 4))
      CHECK(std::abs(sum - std::log(64.0 / (64 - static_cast<double>(codons.stops().size())))) < 1e-5);
  }
  const std::string text = gene_model_text(model);
  const test::ScratchFile file(bytes_of(text));
  CHECK(gene_model_text(read_gene_model(file.path())) == text);
}

TEST_CASE("expected features are the derivatives of log Z") {
  std::mt19937 random(testing::test_seed(3));
  const MadeGenome genome = made_genome(random, 30);
  const std::vector<std::uint8_t> bases = base_codes(genome.bases);
  GeneModel model = gene_grammar("eukaryote");
  count_genes({{&bases, genome.genes, {}}}, 1, model);
  CHECK(!model.signals[4].motif.empty());
  for (ContentModel& one : model.contents) one.weight = 0.7, one.bias = 0.01;
  for (SignalModel& one : model.signals) one.weight = 0.8;
  for (LengthModel& one : model.lengths) one.weight = 0.9;
  // With and without genes that are known, of a part of the sequence.
  const auto known = GENERATE(false, true);
  KnownBoundaries boundaries;
  std::vector<CodingTranscript> some;
  for (const CodingTranscript& gene : genome.genes)
    if (gene.begin() > 1000 && gene.end() < 3000) some.push_back(gene);
  const auto expected = [&] {
    const GeneLattice lattice = compile(model, "m");
    const SequenceSource source(model, lattice, bases, 100, 4000);
    if (!known) return expected_features(model, lattice, source, source);
    if (boundaries.boundaries.empty()) {
      const auto path = path_of_genes(model, lattice, bases, some, 100, 4000);
      for (std::size_t i = 1; i < path->size(); ++i)
        boundaries.boundaries.push_back({(*path)[i].begin, ~std::uint64_t{0}});
      for (const CodingTranscript& gene : some)
        boundaries.closed.emplace_back(gene.begin() - 100, gene.end() - 100);
    }
    GeneLattice constrained = lattice;
    constrained.lattice = constrained_lattice(lattice.lattice);
    return expected_features(model, constrained,
                             KnownBoundarySource(lattice.lattice.barriers, source, boundaries), source);
  };
  const ExpectedGeneFeatures found = expected();
  const auto check = [&](double& value, double derivative) {
    constexpr double kStep = 1e-4;
    const double kept = value;
    value = kept + kStep;
    const double above = expected().log_z;
    value = kept - kStep;
    const double below = expected().log_z;
    value = kept;
    // Scores of bases and signals are floats.
    CHECK(std::abs((above - below) / (2 * kStep) - derivative) < 2e-3 * (1 + std::abs(derivative)));
  };
  for (std::size_t i = 0; i < model.contents.size(); ++i) {
    check(model.contents[i].weight, found.features.content[i]);
    check(model.contents[i].bias, found.features.bases[i]);
  }
  for (std::size_t i = 0; i < model.signals.size(); ++i)
    check(model.signals[i].weight, found.features.signals[i]);
  for (std::size_t i = 0; i < model.lengths.size(); ++i)
    check(model.lengths[i].weight, found.features.lengths[i]);
  for (std::size_t i = 0; i < model.transitions.size(); ++i)
    check(model.transitions[i].score, found.features.transitions[i]);
}

TEST_CASE("probabilities of predicted genes are those of their paths") {
  std::mt19937 random(testing::test_seed(4));
  const MadeGenome genome = made_genome(random, 1);
  const std::vector<std::uint8_t> bases = base_codes(genome.bases);
  GeneModel model = gene_grammar("fungus");
  const MadeGenome training = made_genome(random, 40);
  const std::vector<std::uint8_t> trained = base_codes(training.bases);
  count_genes({{&trained, training.genes, {}}}, 2, model);
  const GeneLattice lattice = compile(model, "m");
  const auto length = static_cast<std::int64_t>(bases.size());
  const PredictedSequence found = predict_genes(model, lattice, bases, 2);
  REQUIRE(!found.genes.empty());
  // The path that has these genes and no other is one segmentation of those that have each of them.
  const SequenceSource source(model, lattice, bases, 0, length);
  const auto score_with = [&](const std::vector<CodingTranscript>& genes) {
    const auto path = path_of_genes(model, lattice, bases, genes, 0, length);
    REQUIRE(path);
    const auto features = features_of_path(model, lattice, source, *path);
    REQUIRE(features);
    return score_of(model, *features);
  };
  std::vector<CodingTranscript> genes;
  for (const PredictedGene& gene : found.genes) {
    genes.emplace_back().strand = gene.strand;
    for (const PredictedExon& exon : gene.exons) genes.back().exons.push_back(exon.exon);
  }
  const double score = score_with(genes), probability = std::exp(score - found.log_z);
  CHECK(std::abs(found.score - score) < 1e-6);
  CHECK(found.score >= score_with(genome.genes) - 1e-6);
  for (const PredictedGene& gene : found.genes) {
    CHECK(gene.probability >= probability - 1e-9);
    CHECK(gene.probability <= gene.exons[0].probability + 1e-9);
    CHECK(gene.probability <= gene.start_probability + 1e-9);
  }
}

// The path is the best one of scores in which each start codon has log(cost) more; what is told of a gene
// does not depend on the cost.
TEST_CASE("where a missed gene costs more than a false one, more genes are told and none differently") {
  std::mt19937 random(testing::test_seed(7));
  const std::string kind = GENERATE("fungus", "prokaryote");
  CAPTURE(kind);
  const GeneModel model = usual_gene_model(kind, {}, 1);
  const GeneLattice lattice = compile(model, "m");
  const std::vector<std::uint8_t> bases = base_codes(random_bases(random, 20000));
  const SequenceSource source(model, lattice, bases, 0, static_cast<std::int64_t>(bases.size()));
  const PredictedSequence plain = predict_genes(model, lattice, source, 1);
  std::size_t last = plain.genes.size();
  for (const double cost : {1.0, 30.0, 1e4}) {
    CAPTURE(cost);
    const PredictedSequence found = predict_genes(model, lattice, source, 2, 0, cost);
    CHECK(found.log_z == plain.log_z);
    CHECK(found.score <= plain.score + 1e-6);
    const auto favoured = [&](const PredictedSequence& one) {
      return one.score + std::log(cost) * static_cast<double>(one.genes.size());
    };
    CHECK(favoured(found) >= favoured(plain) - 1e-6);
    CHECK(found.genes.size() >= last);
    last = found.genes.size();
    for (const PredictedGene& gene : found.genes)
      for (const PredictedGene& other : plain.genes)
        if (gene.strand == other.strand && gene.exons.size() == 1 && other.exons.size() == 1 &&
            gene.exons[0].exon == other.exons[0].exon) {
          CHECK(std::abs(gene.probability - other.probability) < 1e-9);
          CHECK(std::abs(gene.stop_probability - other.stop_probability) < 1e-9);
        }
  }
  CHECK(last > plain.genes.size());
}

TEST_CASE("a motif is found at unknown places") {
  std::mt19937 random(testing::test_seed(5));
  std::vector<std::vector<int>> windows;
  for (int n = 0; n < 60; ++n) {
    std::string text = random_bases(random, 60);
    if (n % 10 != 0) text.replace(random() % 50, 7, "TACTAAC");
    std::vector<int> window;
    for (const std::uint8_t base : base_codes(text)) window.push_back(base);
    windows.push_back(window);
  }
  const auto motif = learn_motif(windows, 7, {0.25, 0.25, 0.25, 0.25});
  REQUIRE(motif.size() == 7);
  const std::vector<std::uint8_t> word = base_codes("TACTAAC");
  for (std::size_t i = 0; i < 7; ++i) CHECK(motif[i][word[i]] > 1);
  windows.resize(19);
  CHECK(learn_motif(windows, 7, {0.25, 0.25, 0.25, 0.25}).empty());
}

TEST_CASE("files of gene models read back, and what is wrong with them has its place") {
  std::mt19937 random(testing::test_seed(6));
  const MadeGenome genome = made_genome(random, 30);
  const std::vector<std::uint8_t> bases = base_codes(genome.bases);
  GeneModel model = gene_grammar("fungus");
  count_genes({{&bases, genome.genes, {}}}, 1, model);
  const std::string text = gene_model_text(model);
  const test::ScratchFile file(bytes_of(text));
  CHECK(gene_model_text(read_gene_model(file.path())) == text);
  const auto refused = [&](const std::string& from, const std::string& to, const std::string& said) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    REQUIRE(at != changed.npos);
    changed.replace(at, from.size(), to);
    const test::ScratchFile other(bytes_of(changed));
    try {
      read_gene_model(other.path());
      FAIL("accepted: " << to);
    } catch (const InputError& error) {
      CAPTURE(error.what());
      CHECK(std::string(error.what()).find(said) != std::string::npos);
    }
  };
  refused("\"semicrf-genes\"", "\"semicrf-params\"", "/format");
  refused("\"format_version\":\"1.0\"", "\"format_version\":\"2.0\"", "/format_version");
  refused("\"content\":\"coding\"", "\"content\":\"codings\"", "no content is called \"codings\"");
  refused("[\"intergenic\",\"single\"", "[\"intergenic\",\"other\"", "/transitions/0/1");
  refused("\"frame\":\"carry\"", "\"frame\":\"any\"", "none, coding, carry");
  refused("\"order\":1", "\"order\":2", "/contents/0/tables");
  refused("\"ATG\"", "\"ATN\"", "/signals/0/consensus/0");
  refused("\"weight\":1.0", "\"weight\":0", "a number above 0");
}

}  // namespace
}  // namespace semicrf
