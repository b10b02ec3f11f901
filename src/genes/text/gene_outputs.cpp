#include "genes/text/gene_outputs.h"

#include <fmt/format.h>

#include "genes/genetic_code.h"
#include "genes/sequence_source.h"

namespace semicrf {
namespace {

// A name as GFF3 wants it in column 1 and in attributes.
std::string escaped(const std::string& name) {
  std::string text;
  for (const char c : name) {
    const unsigned char code = c;
    if (code <= ' ' || code == 127 || std::string_view(";=&,%>").find(c) != std::string_view::npos)
      text += fmt::format("%{:02X}", code);
    else
      text += c;
  }
  return text;
}

// The lines of a gene and of its mRNA.
class GeneLines {
 public:
  GeneLines(const std::string& sequence, int number, const PredictedGene& gene, int genetic_code,
            std::string& text)
      : sequence_(sequence), id_(fmt::format("{}.g{}", sequence, number)), gene_(gene), text_(text) {
    if (!is_standard(genetic_code)) code_text_ = fmt::format(";transl_table={}", genetic_code);
  }

  void add() {
    const std::vector<CodingExon> exons = whole_exons(coding(gene_.exons), coding(gene_.untranslated));
    begin_ = exons.front().begin + 1, end_ = exons.back().end;
    std::string attributes = "ID=" + id_;
    if (gene_.has_start()) attributes += fmt::format(";p_start={:.4g}", gene_.start_probability);
    if (gene_.has_stop()) attributes += fmt::format(";p_stop={:.4g}", gene_.stop_probability);
    add_line("gene", begin_, end_, score_text(gene_.probability), ".", attributes);
    add_transcript(1, gene_.exons, gene_.transcript_probability, true);
    int number = 1;
    for (const PredictedAlternative& other : gene_.alternatives)
      add_transcript(++number, other.exons, other.probability, false);
  }

 private:
  static std::string score_text(double probability) { return fmt::format("{:.4g}", probability); }
  static std::vector<CodingExon> coding(const std::vector<PredictedExon>& exons) {
    std::vector<CodingExon> places;
    for (const PredictedExon& exon : exons) places.push_back(exon.exon);
    return places;
  }

  // Other transcripts have the untranslated regions of the first.
  void add_transcript(int number, const std::vector<PredictedExon>& exons, double probability,
                      bool has_scores) {
    const std::string transcript = fmt::format("{}.t{}", id_, number);
    add_line("mRNA", begin_, end_, score_text(probability), ".",
             fmt::format("ID={};Parent={}", transcript, id_));
    const auto score = [&](double p) { return has_scores ? score_text(p) : "."; };
    std::vector<PredictedExon> whole = exons;
    if (!gene_.untranslated.empty()) {
      whole = gene_.whole_exons;
      if (!has_scores) whole = joined(exons);
    }
    int exon_number = 0;
    for (const PredictedExon& exon : whole)
      add_line("exon", exon.exon.begin + 1, exon.exon.end, score(exon.probability), ".",
               fmt::format("ID={}.exon{};Parent={}", transcript, ++exon_number, transcript));
    for (const PredictedExon& exon : exons)
      add_line("CDS", exon.exon.begin + 1, exon.exon.end, score(exon.probability), fmt::to_string(exon.phase),
               fmt::format("ID={}.cds;Parent={}{}", transcript, transcript, code_text_));
    int part_number = 0;
    for (const PredictedExon& part : gene_.untranslated) {
      const bool before = (part.exon.end <= exons.front().exon.begin) == (gene_.strand == '+');
      add_line(before ? "five_prime_UTR" : "three_prime_UTR", part.exon.begin + 1, part.exon.end,
               score(part.probability), ".",
               fmt::format("ID={}.utr{};Parent={}", transcript, ++part_number, transcript));
    }
  }
  std::vector<PredictedExon> joined(const std::vector<PredictedExon>& exons) const {
    std::vector<PredictedExon> whole;
    for (const CodingExon& exon : whole_exons(coding(exons), coding(gene_.untranslated)))
      whole.push_back({exon, 0, 0});
    return whole;
  }
  void add_line(const char* kind, std::int64_t from, std::int64_t to, const std::string& score,
                const std::string& phase, const std::string& attributes) {
    text_ += fmt::format("{}\tsemicrf\t{}\t{}\t{}\t{}\t{}\t{}\t{}{}\n", sequence_, kind, from, to, score,
                         gene_.strand, phase, attributes, range_text(from, to));
  }
  // Where a line has an end that the sequence cuts off.
  std::string range_text(std::int64_t from, std::int64_t to) const {
    const bool left = gene_.cut_left && from == begin_, right = gene_.cut_right && to == end_;
    std::string text = left || right ? ";partial=true" : "";
    if (left) text += fmt::format(";start_range=.,{}", from);
    if (right) text += fmt::format(";end_range={},.", to);
    return text;
  }

  const std::string& sequence_;
  std::string id_, code_text_;
  const PredictedGene& gene_;
  std::string& text_;
  std::int64_t begin_ = 0, end_ = 0;
};

// `codons`: null for bases.
std::string letters_of(const std::vector<PredictedExon>& predicted, const PredictedGene& gene,
                       const std::vector<std::uint8_t>& bases, const CodonTable* codons) {
  std::vector<CodingExon> exons;
  for (const PredictedExon& exon : predicted) exons.push_back(exon.exon);
  const std::vector<int> joined = spliced(bases, exons, gene.strand);
  const PredictedExon& first = gene.strand == '+' ? predicted.front() : predicted.back();
  std::string letters;
  if (codons != nullptr) {
    const std::size_t stop = gene.has_stop() ? kCodon : 0;
    for (std::size_t i = first.phase; i + kCodon + stop <= joined.size(); i += kCodon)
      letters += codons->amino_acid(joined[i], joined[i + 1], joined[i + 2]);
    if ((gene.has_start() || gene.starts_at_end) && !letters.empty())
      letters.front() = 'M';  // GTG and TTG too
  } else {
    for (std::size_t i = first.phase; i < joined.size(); ++i) letters += "ACGTN"[joined[i]];
  }
  return letters;
}

}  // namespace

std::string gff_text(const std::string& name, const PredictedSequence& sequence) {
  const std::string id = escaped(name);
  std::string text = fmt::format("##sequence-region {} 1 {}\n", id, sequence.length);
  int number = 0;
  for (const PredictedGene& gene : sequence.genes)
    GeneLines(id, ++number, gene, sequence.genetic_code, text).add();
  return text;
}

std::string coding_text(const std::string& name, const PredictedSequence& sequence,
                        const std::vector<std::uint8_t>& bases, bool protein) {
  constexpr std::size_t kWidth = 60;
  const CodonTable codons(sequence.genetic_code);
  std::string text;
  int number = 0;
  for (const PredictedGene& gene : sequence.genes) {
    ++number;
    int transcript = 0;
    const auto add = [&](const std::vector<PredictedExon>& exons) {
      const std::string letters = letters_of(exons, gene, bases, protein ? &codons : nullptr);
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
