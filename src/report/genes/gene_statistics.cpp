#include "report/genes/gene_statistics.h"

#include <algorithm>

#include "genes/gene_path.h"
#include "genes/sequence_source.h"

namespace semicrf {
namespace {

// The base at `offset` from a boundary along a strand; kUnknownBase beyond the sequence.
int base_at(const std::vector<std::uint8_t>& bases, std::int64_t boundary, std::int64_t offset, char strand) {
  const std::int64_t at = strand == '+' ? boundary + offset : boundary - 1 - offset;
  if (at < 0 || at >= std::ssize(bases)) return kUnknownBase;
  const int base = bases[at];
  return strand == '+' ? base : complement(base);
}

std::string word_at(const std::vector<std::uint8_t>& bases, std::int64_t boundary, int from, int to,
                    char strand) {
  std::string word;
  for (int offset = from; offset < to; ++offset) word += "ACGTN"[base_at(bases, boundary, offset, strand)];
  return word;
}

void add_site(SiteBases& site, const std::vector<std::uint8_t>& bases, std::int64_t boundary, char strand) {
  site.sites += 1;
  for (std::size_t i = 0; i < site.counts.size(); ++i) {
    const int base = base_at(bases, boundary, site.first + i, strand);
    if (base != kUnknownBase) site.counts[i][base] += 1;
  }
}

SiteBases site_bases(const char* name, int first, std::size_t places) {
  return {name, first, std::vector<std::array<std::int64_t, 4>>(places), 0};
}

bool has_less_doubt(const ReviewedGene& a, const ReviewedGene& b) { return a.doubt > b.doubt; }

}  // namespace

void SequenceNumbers::add(const SequenceNumbers& other) {
  bases += other.bases, genes += other.genes, exons += other.exons, introns += other.introns;
  coding += other.coding, expected += other.expected;
}

GeneStatistics::GeneStatistics()
    : sites_{site_bases("start", -12, 18), site_bases("donor", -4, 12), site_bases("acceptor", -20, 23),
             site_bases("stop", -6, 15)} {}

void GeneStatistics::add(const std::string& name, const PredictedSequence& sequence,
                         const std::vector<std::uint8_t>& bases) {
  SequenceNumbers numbers;
  numbers.name = name, numbers.bases = sequence.length;
  for (const std::uint8_t base : bases)
    if (base != kUnknownBase) base_counts_[base] += 1;
  std::int64_t number = 0, reached = -1;
  for (const PredictedGene& gene : sequence.genes) {
    add_gene(gene, bases, numbers);
    review(name, ++number, gene);
    const std::int64_t begin = gene.exons.front().exon.begin;
    if (reached >= 0 && begin > reached) lengths_[kBetween].push_back(begin - reached);
    reached = std::max(reached, gene.exons.back().exon.end);
  }
  sequences_.push_back(std::move(numbers));
}

void GeneStatistics::add_gene(const PredictedGene& gene, const std::vector<std::uint8_t>& bases,
                              SequenceNumbers& numbers) {
  CodingTranscript coding{"", "", gene.strand, {}};
  for (const PredictedExon& exon : gene.exons) {
    coding.exons.push_back(exon.exon);
    exons_.push_back(exon.probability);
  }
  // What the ends of the sequence cut off has no length.
  if (!gene.cut_left && !gene.cut_right) {
    lengths_[kGeneLength].push_back(coding.end() - coding.begin());
    lengths_[kCodingLength].push_back(coding.bases());
  }
  for (std::size_t i = 0; i < coding.exons.size(); ++i) {
    const std::string state = state_of_exon(coding, i);
    const bool cut = (i == 0 && gene.cut_left) || (i + 1 == coding.exons.size() && gene.cut_right);
    for (const LengthOf kind : {kSingle, kInitial, kInternal, kTerminal})
      if (state == kLengthNames[kind] && !cut)
        lengths_[kind].push_back(coding.exons[i].end - coding.exons[i].begin);
    if (i > 0) lengths_[kIntron].push_back(coding.exons[i].begin - coding.exons[i - 1].end);
  }
  numbers.genes += 1;
  numbers.exons += std::ssize(coding.exons);
  numbers.introns += std::ssize(coding.exons) - 1;
  numbers.coding += coding.bases();
  numbers.expected += gene.probability;
  on_plus_ += gene.strand == '+' ? 1 : 0;
  genes_.push_back(gene.probability);
  if (gene.has_start()) starts_.push_back(gene.start_probability);
  if (gene.has_stop()) stops_.push_back(gene.stop_probability);
  add_sites(gene, bases);
}

void GeneStatistics::add_sites(const PredictedGene& gene, const std::vector<std::uint8_t>& bases) {
  const bool plus = gene.strand == '+';
  const std::int64_t begin = gene.exons.front().exon.begin, end = gene.exons.back().exon.end;
  const std::int64_t start = plus ? begin : end;
  if (gene.has_start()) {
    add_site(sites_[kStartSite], bases, start, gene.strand);
    start_codons_[word_at(bases, start, 0, kCodon, gene.strand)] += 1;
  }
  // A stop codon may be divided by an intron.
  const CodingExon& last = (plus ? gene.exons.back() : gene.exons.front()).exon;
  if (gene.has_stop() && last.end - last.begin >= kCodon) {
    const std::int64_t stop = plus ? end - kCodon : begin + kCodon;
    add_site(sites_[kStopSite], bases, stop, gene.strand);
    stop_codons_[word_at(bases, stop, 0, kCodon, gene.strand)] += 1;
  }
  for (std::size_t i = 1; i < gene.exons.size(); ++i) {
    const std::int64_t left = gene.exons[i - 1].exon.end, right = gene.exons[i].exon.begin;
    const std::int64_t donor = plus ? left : right, acceptor = plus ? right : left;
    add_site(sites_[kDonorSite], bases, donor, gene.strand);
    add_site(sites_[kAcceptorSite], bases, acceptor, gene.strand);
    introns_[word_at(bases, donor, 0, 2, gene.strand) + "-" + word_at(bases, acceptor, -2, 0, gene.strand)] +=
        1;
  }
}

void GeneStatistics::review(const std::string& name, std::int64_t number, const PredictedGene& gene) {
  ReviewedGene reviewed{name, number, 0, {}};
  for (const PredictedExon& exon : gene.exons)
    reviewed.doubt += (1 - exon.probability) * static_cast<double>(exon.exon.end - exon.exon.begin);
  if (reviewed_.size() == kMostReviewed && reviewed.doubt <= reviewed_.front().doubt) return;
  if (reviewed_.size() == kMostReviewed) {
    std::pop_heap(reviewed_.begin(), reviewed_.end(), has_less_doubt);
    reviewed_.pop_back();
  }
  reviewed.gene = gene;
  reviewed_.push_back(std::move(reviewed));
  std::push_heap(reviewed_.begin(), reviewed_.end(), has_less_doubt);
}

SequenceNumbers GeneStatistics::total() const {
  SequenceNumbers all;
  for (const SequenceNumbers& one : sequences_) all.add(one);
  return all;
}

std::array<double, 4> GeneStatistics::background() const {
  std::array<double, 4> shares{};
  double all = 0;
  for (const std::int64_t count : base_counts_) all += static_cast<double>(count);
  for (std::size_t b = 0; b < 4; ++b)
    shares[b] = all > 0 ? static_cast<double>(base_counts_[b] + base_counts_[3 - b]) / (2 * all) : 0.25;
  return shares;
}

std::vector<ReviewedGene> GeneStatistics::reviewed() const {
  std::vector<ReviewedGene> sorted = reviewed_;
  std::ranges::sort(sorted, [](const ReviewedGene& a, const ReviewedGene& b) {
    if (a.doubt != b.doubt) return a.doubt > b.doubt;
    return std::pair(a.sequence, a.number) < std::pair(b.sequence, b.number);
  });
  return sorted;
}

}  // namespace semicrf
