// Genes that the ends of a sequence cut off: what is left of them, in every frame, on both strands; their
// probabilities against the enumeration of all segmentations.
#include "genes/open_ends.h"

#include <cmath>
#include <random>

#include "core/chain_model.h"
#include "genes/gene_path.h"
#include "genes/lattice/best_paths.h"
#include "genes/learn/gene_counts.h"
#include "genes/predict_genes.h"
#include "genes/sequence_source.h"
#include "genes/text/gene_outputs.h"
#include "support/catch.h"
#include "support/seeds.h"

namespace semicrf {
namespace {

std::string complemented(std::string text) {
  std::reverse(text.begin(), text.end());
  for (char& base : text) base = base == 'A' ? 'T' : base == 'C' ? 'G' : base == 'G' ? 'C' : 'A';
  return text;
}

std::string some_bases(std::mt19937& random, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "ACGTTA"[random() % 6];
  return text;
}

// Without stop codons in its frame.
std::string coding_bases(std::mt19937& random, int codons) {
  std::string text;
  for (int i = 0; i < codons; ++i) {
    text += "GCA"[random() % 3];
    text += "ACGT"[random() % 4];
    text += "CG"[random() % 2];
  }
  return text;
}

std::string intron_bases(std::mt19937& random) {
  std::string text = "GTAAGT" + some_bases(random, 30);
  text += "TACTAAC" + some_bases(random, 12);
  return text + "CAG";
}

// A model of genes of some hundred bases, with introns or without.
GeneModel counted_model(const char* grammar, std::mt19937& random) {
  GeneModel model = gene_grammar(grammar);
  const bool introns = std::string(grammar) != "prokaryote";
  std::string text;
  std::vector<CodingTranscript> genes;
  for (int n = 0; n < 80; ++n) {
    text += some_bases(random, 50 + static_cast<int>(random() % 200));
    const auto at = static_cast<std::int64_t>(text.size());
    const std::string coding = "ATG" + coding_bases(random, 20 + static_cast<int>(random() % 90)) + "TAA";
    CodingTranscript gene{"t", "", '+', {{at, at + static_cast<std::int64_t>(coding.size())}}};
    if (introns && n % 2 == 0) {
      const std::string intron = intron_bases(random);
      const auto cut = static_cast<std::int64_t>(20 + random() % 30);
      gene.exons = {{at, at + cut},
                    {at + cut + static_cast<std::int64_t>(intron.size()),
                     gene.end() + static_cast<std::int64_t>(intron.size())}};
      text += coding.substr(0, static_cast<std::size_t>(cut)) + intron +
              coding.substr(static_cast<std::size_t>(cut));
    } else {
      text += coding;
    }
    genes.push_back(gene);
  }
  text += some_bases(random, 100);
  const std::vector<std::uint8_t> bases = base_codes(text);
  count_genes({{&bases, genes, {}}}, 2, model);
  for (LengthModel& law : model.lengths) law.weight = 0.9;
  return model;
}

// These two look at one gene each, which other bases around it may change: always the same bases.
TEST_CASE("what is left of a gene has its frame and its protein") {
  std::mt19937 random(21);
  const std::string grammar = GENERATE("prokaryote", "fungus");
  const GeneModel model = counted_model(grammar.c_str(), random);
  const GeneLattice lattice = open_ends(model, compile(model, "m"));
  const std::string coding = "ATG" + coding_bases(random, 200) + "TAA";
  std::string whole = some_bases(random, 60) + coding;
  whole += some_bases(random, 60);
  const auto protein = [&](const std::string& bases, PredictedGene& gene) {
    const std::vector<std::uint8_t> codes = base_codes(bases);
    const PredictedSequence found = predict_genes(model, lattice, codes, 1);
    REQUIRE(found.genes.size() == 1);
    gene = found.genes[0];
    std::string text = coding_text("s", found, codes, true);
    text = text.substr(text.find('\n'));
    std::erase(text, '\n');
    return text;
  };
  PredictedGene gene;
  const std::string all = protein(whole, gene);
  REQUIRE(all.size() == 201);
  CHECK(gene.has_start());
  CHECK(gene.has_stop());
  for (const bool minus : {false, true})
    for (const std::size_t cut : {201U, 202U, 203U}) {
      CAPTURE(grammar, minus, cut);
      const auto strand = [&](const std::string& text) { return minus ? complemented(text) : text; };
      const std::size_t lost = (cut - 60 + 2) / 3;  // codons that are not whole
      CHECK(protein(strand(whole.substr(cut)), gene) == all.substr(lost));
      CHECK(!gene.has_start());
      CHECK(gene.has_stop());
      CHECK(gene.start_probability == 0);
      CHECK((minus ? gene.exons.back() : gene.exons.front()).phase ==
            static_cast<int>((3 - (cut - 60) % 3) % 3));
      CHECK(protein(strand(whole.substr(0, cut)), gene) == all.substr(0, (cut - 60) / 3));
      CHECK(gene.has_start());
      CHECK(!gene.has_stop());
      CHECK(protein(strand(whole.substr(cut, 240)), gene).size() >= 79);
      CHECK(gene.cut_left);
      CHECK(gene.cut_right);
    }
}

TEST_CASE("a gene whose start codon is at the end of the sequence is complete") {
  std::mt19937 random(25);
  const std::string grammar = GENERATE("prokaryote", "fungus");
  const GeneModel model = counted_model(grammar.c_str(), random);
  const GeneLattice lattice = open_ends(model, compile(model, "m"));
  std::string coding = coding_bases(random, 200) + "TAA";
  for (std::size_t i = 1; i < coding.size(); i += 3)  // no other start codon
    if (coding[i] == 'T') coding[i] = 'C';
  const std::string behind = some_bases(random, 80);
  const std::string first = GENERATE("ATG", "GCC", "AT", "GCTC");
  for (const bool minus : {false, true}) {
    CAPTURE(grammar, first, minus);
    const std::string text = first + coding + behind;
    const std::vector<std::uint8_t> bases = base_codes(minus ? complemented(text) : text);
    PredictedSequence found = predict_genes(model, lattice, bases, 1);
    mark_starts_at_ends(model, bases, found);
    REQUIRE(!found.genes.empty());
    found.genes = {minus ? found.genes.back() : found.genes.front()};
    const PredictedGene& gene = found.genes.front();
    const std::string gff = gff_text("s", found), protein = coding_text("s", found, bases, true);
    CHECK(gene.starts_at_end == (first == "ATG"));
    CHECK((minus ? gene.cut_right : gene.cut_left) == (first != "ATG"));
    CHECK((gff.find("partial") == std::string::npos) == (first == "ATG"));
    CHECK(gff.find("p_start") == std::string::npos);
    CHECK(gff.find("p_stop") != std::string::npos);
    CHECK((protein[protein.find('\n') + 1] == 'M') == (first == "ATG"));
  }
}

TEST_CASE("a gene that is cut within an intron") {
  std::mt19937 random(22);
  const GeneModel model = counted_model("fungus", random);
  const GeneLattice lattice = open_ends(model, compile(model, "m"));
  const std::string intron = intron_bases(random);
  const std::string first = "ATG" + coding_bases(random, 120) + "G";
  const std::string last = "CC" + coding_bases(random, 120) + "TAA";
  std::string text = some_bases(random, 80) + first + intron + last;
  text += some_bases(random, 80);
  const std::size_t in_intron = 80 + first.size() + 20;
  for (const bool minus : {false, true}) {
    CAPTURE(minus);
    const auto genes = [&](const std::string& part) {
      return predict_genes(model, lattice, base_codes(minus ? complemented(part) : part), 1).genes;
    };
    const std::vector<PredictedGene> before = genes(text.substr(0, in_intron));
    // The bases around the gene may be part of another one.
    REQUIRE(!before.empty());
    const PredictedGene& known = minus ? before.front() : before.back();
    CHECK(known.has_start());
    CHECK(!known.has_stop());
    const CodingExon exon = known.exons[0].exon;
    CHECK(exon.end - exon.begin == static_cast<std::int64_t>(first.size()));
    CHECK(exon.begin == (minus ? 20 : 80));
    const std::vector<PredictedGene> behind = genes(text.substr(in_intron));
    REQUIRE(!behind.empty());
    const PredictedGene& rest = minus ? behind.back() : behind.front();
    CHECK(!rest.has_start());
    CHECK(rest.exons[0].phase == 2);
    CHECK(rest.exons[0].exon.end - rest.exons[0].exon.begin == static_cast<std::int64_t>(last.size()));
  }
}

TEST_CASE("the other strand has the same probabilities at open ends") {
  std::mt19937 random(testing::test_seed(23));
  const std::string grammar = GENERATE("prokaryote", "fungus");
  const GeneModel model = counted_model(grammar.c_str(), random);
  const GeneLattice lattice = open_ends(model, compile(model, "m"));
  for (int n = 0; n < 6; ++n) {
    std::string text = coding_bases(random, 40).substr(n % 3) + "TAA";
    text += some_bases(random, 90);
    text += "ATG" + coding_bases(random, 30);
    const PredictedSequence here = predict_genes(model, lattice, base_codes(text), 1);
    const PredictedSequence there = predict_genes(model, lattice, base_codes(complemented(text)), 1);
    CHECK(std::abs(here.log_z - there.log_z) < 1e-5);
    CHECK(std::abs(here.score - there.score) < 1e-5);
    REQUIRE(here.genes.size() == there.genes.size());
    for (std::size_t i = 0; i < here.genes.size(); ++i)
      CHECK(std::abs(here.genes[i].probability - there.genes[here.genes.size() - 1 - i].probability) < 1e-5);
  }
}

TEST_CASE("probabilities at open ends are sums over all segmentations") {
  std::mt19937 random(testing::test_seed(24));
  const std::string grammar = GENERATE("prokaryote", "fungus");
  const GeneModel model = counted_model(grammar.c_str(), random);
  const GeneLattice lattice = open_ends(model, compile(model, "m"));
  int seen = 0, unsure = 0;
  for (int n = 0; n < 60; ++n) {
    std::string text = coding_bases(random, 4).substr(n % 3);
    text += some_bases(random, 9 + n % 5);
    if (n % 2 == 0) text = "AG" + text;
    if (n % 5 == 0) text = coding_bases(random, 8);
    if (n % 4 == 1) text += "ATG" + coding_bases(random, 5);
    if (n % 3 == 1) text = complemented(text);
    const std::vector<std::uint8_t> bases = base_codes(text);
    const SequenceSource source(model, lattice, bases, 0, static_cast<std::int64_t>(bases.size()));
    const PredictedSequence found = predict_genes(model, lattice, bases, 1);
    const std::vector<LatticePath> paths = best_paths(lattice.lattice, source, 20000);
    double all = kNegativeInfinity;
    for (const LatticePath& path : paths) all = log_add(all, path.score);
    CAPTURE(grammar, text, paths.size());
    CHECK(std::abs(all - found.log_z) < 1e-6);
    for (const PredictedGene& gene : found.genes) {
      double sum = kNegativeInfinity;
      for (const LatticePath& path : paths)
        for (const PathGene& other : genes_of_path(model, lattice, path.segments, 0)) {
          std::vector<CodingExon> exons;
          for (const PredictedExon& exon : gene.exons) exons.push_back(exon.exon);
          const PredictedExon& first = gene.strand == '+' ? gene.exons.front() : gene.exons.back();
          if (other.strand == gene.strand && other.exons == exons && other.cut_left == gene.cut_left &&
              other.cut_right == gene.cut_right && other.first_phase == first.phase)
            sum = log_add(sum, path.score);
        }
      const double p = std::exp(sum - found.log_z);
      CAPTURE(p, gene.probability, gene.cut_left, gene.cut_right, gene.strand);
      CHECK(std::abs(p - gene.probability) < 1e-6);
      seen += gene.cut_left || gene.cut_right ? 1 : 0, unsure += p < 0.99 ? 1 : 0;
    }
  }
  CHECK(seen >= 5);
  CHECK(unsure >= 3);
}

}  // namespace
}  // namespace semicrf
