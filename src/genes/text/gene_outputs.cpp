#include "genes/text/gene_outputs.h"

#include <fmt/format.h>

#include "genes/sequence_source.h"

namespace semicrf {
namespace {

// A name as GFF3 wants it in column 1 and in attributes.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const auto code = static_cast<unsigned char>(c);
    if (code <= ' ' || code == 127 || std::string_view(";=&,%>").find(c) != std::string_view::npos)
      text += fmt::format("%{:02X}", code);
    else
      text += c;
  }
  return text;
}

char amino_acid(int a, int b, int c) {
  constexpr std::string_view kCode = "KNKNTTTTRSRSIIMIQHQHPPPPRRRRLLLLEDEDAAAAGGGGVVVV*Y*YSSSS*CWCLFLF";
  if (a == kUnknownBase || b == kUnknownBase || c == kUnknownBase) return 'X';
  return kCode[a * 16 + b * 4 + c];
}

// The lines of a gene and of its mRNA.
class GeneLines {
 public:
  GeneLines(const std::string& sequence, int number, const PredictedGene& gene, std::string& text)
      : sequence_(sequence), id_(fmt::format("{}.g{}", sequence, number)), gene_(gene), text_(text) {}

  void add() {
    begin_ = gene_.exons.front().exon.begin + 1, end_ = gene_.exons.back().exon.end;
    add_line("gene", begin_, end_, score_text(gene_.probability), ".",
             fmt::format("ID={};p_start={:.4g};p_stop={:.4g}", id_, gene_.start_probability,
                         gene_.stop_probability));
    add_transcript(1, gene_.exons, gene_.probability, true);
    int number = 1;
    for (const PredictedAlternative& other : gene_.alternatives)
      add_transcript(++number, other.exons, other.probability, false);
  }

 private:
  static std::string score_text(double probability) { return fmt::format("{:.4g}", probability); }

  void add_transcript(int number, const std::vector<PredictedExon>& exons, double probability,
                      bool has_scores) {
    const std::string transcript = fmt::format("{}.t{}", id_, number);
    add_line("mRNA", begin_, end_, score_text(probability), ".",
             fmt::format("ID={};Parent={}", transcript, id_));
    int exon_number = 0;
    for (const PredictedExon& exon : exons) {
      const std::string score = has_scores ? score_text(exon.probability) : ".";
      add_line("exon", exon.exon.begin + 1, exon.exon.end, score, ".",
               fmt::format("ID={}.exon{};Parent={}", transcript, ++exon_number, transcript));
      add_line("CDS", exon.exon.begin + 1, exon.exon.end, score, std::to_string(exon.phase),
               fmt::format("ID={}.cds;Parent={}", transcript, transcript));
    }
  }
  void add_line(const char* kind, std::int64_t from, std::int64_t to, const std::string& score,
                const std::string& phase, const std::string& attributes) {
    text_ += fmt::format("{}\tsemicrf\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", sequence_, kind, from, to, score,
                         gene_.strand, phase, attributes);
  }

  const std::string& sequence_;
  std::string id_;
  const PredictedGene& gene_;
  std::string& text_;
  std::int64_t begin_ = 0, end_ = 0;
};

std::string letters_of(const std::vector<PredictedExon>& predicted, char strand,
                       const std::vector<std::uint8_t>& bases, bool protein) {
  std::vector<CodingExon> exons;
  for (const PredictedExon& exon : predicted) exons.push_back(exon.exon);
  const std::vector<int> joined = spliced(bases, exons, strand);
  std::string letters;
  if (protein) {
    for (std::size_t i = 0; i + 5 < joined.size(); i += 3)
      letters += amino_acid(joined[i], joined[i + 1], joined[i + 2]);
  } else {
    for (const int base : joined) letters += "ACGTN"[base];
  }
  return letters;
}

}  // namespace

std::string gff_text(const std::string& name, const PredictedSequence& sequence) {
  const std::string id = escaped(name);
  std::string text = fmt::format("##sequence-region {} 1 {}\n", id, sequence.length);
  int number = 0;
  for (const PredictedGene& gene : sequence.genes) GeneLines(id, ++number, gene, text).add();
  return text;
}

std::string coding_text(const std::string& name, const PredictedSequence& sequence,
                        const std::vector<std::uint8_t>& bases, bool protein) {
  constexpr std::size_t kWidth = 60;
  std::string text;
  int number = 0;
  for (const PredictedGene& gene : sequence.genes) {
    ++number;
    int transcript = 0;
    const auto add = [&](const std::vector<PredictedExon>& exons) {
      const std::string letters = letters_of(exons, gene.strand, bases, protein);
      text += fmt::format(">{}.g{}.t{} {}:{}-{}({})\n", escaped(name), number, ++transcript, name,
                          exons.front().exon.begin + 1, exons.back().exon.end, gene.strand);
      for (std::size_t at = 0; at < letters.size(); at += kWidth) text += letters.substr(at, kWidth) + "\n";
    };
    add(gene.exons);
    for (const PredictedAlternative& other : gene.alternatives) add(other.exons);
  }
  return text;
}

}  // namespace semicrf
