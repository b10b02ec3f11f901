// What a report says of predicted genes, collected sequence by sequence.
//
// Memory: some numbers for each gene, exon and sequence, whatever their lengths; kMostReviewed genes with
// their exons.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "genes/predict_genes.h"

namespace semicrf {

inline constexpr std::size_t kMostReviewed = 50;

struct SequenceNumbers {
  std::string name;
  std::int64_t bases = 0;
  std::int64_t genes = 0, exons = 0, introns = 0, coding = 0;  // coding: bases
  double expected = 0;  // genes that are right to the base: the sum of their probabilities

  void add(const SequenceNumbers& other);
};

// Kinds of lengths, in the order of the report. From the exons on they have a law in the model, whose name is
// that of kLengthNames.
enum LengthOf { kGeneLength, kCodingLength, kSingle, kInitial, kInternal, kTerminal, kIntron, kBetween };
inline constexpr std::size_t kLengthKinds = 8;
inline constexpr std::array<const char*, kLengthKinds> kLengthNames{
    "gene", "coding", "single", "initial", "internal", "terminal", "intron", "intergenic"};

// Bases around a place that all genes or introns have, along the strand.
struct SiteBases {
  const char* name = "";
  int first = 0;                                    // where the first row lies, from the boundary
  std::vector<std::array<std::int64_t, 4>> counts;  // A C G T
  std::int64_t sites = 0;
};
enum SiteOf { kStartSite, kDonorSite, kAcceptorSite, kStopSite };

struct ReviewedGene {
  std::string sequence;
  std::int64_t number = 0;  // place among the genes of its sequence, from 1
  double doubt = 0;         // coding bases that are expected to be wrong
  PredictedGene gene;
};

class GeneStatistics {
 public:
  GeneStatistics();
  // Sequences in the order of the output, one after the other.
  void add(const std::string& name, const PredictedSequence& sequence,
           const std::vector<std::uint8_t>& bases);

  const std::vector<SequenceNumbers>& sequences() const { return sequences_; }
  SequenceNumbers total() const;
  const std::vector<std::int64_t>& lengths(LengthOf kind) const { return lengths_[kind]; }
  const SiteBases& site(SiteOf kind) const { return sites_[kind]; }
  // Words at a place by how often they stand there: start codons, stop codons, the two bases at both ends of
  // introns as GT-AG.
  const std::map<std::string, std::int64_t>& start_codons() const { return start_codons_; }
  const std::map<std::string, std::int64_t>& stop_codons() const { return stop_codons_; }
  const std::map<std::string, std::int64_t>& introns() const { return introns_; }
  // Shares of the bases A C G T on both strands together.
  std::array<double, 4> background() const;
  const std::vector<double>& gene_probabilities() const { return genes_; }
  const std::vector<double>& exon_probabilities() const { return exons_; }
  const std::vector<double>& start_probabilities() const { return starts_; }
  const std::vector<double>& stop_probabilities() const { return stops_; }
  std::int64_t on_plus() const { return on_plus_; }
  // The genes with the largest doubt, the largest first.
  std::vector<ReviewedGene> reviewed() const;

 private:
  void add_gene(const PredictedGene& gene, const std::vector<std::uint8_t>& bases, SequenceNumbers& numbers);
  void add_sites(const PredictedGene& gene, const std::vector<std::uint8_t>& bases);
  void review(const std::string& name, std::int64_t number, const PredictedGene& gene);

  std::vector<SequenceNumbers> sequences_;
  std::array<std::vector<std::int64_t>, kLengthKinds> lengths_;
  std::array<SiteBases, 4> sites_;
  std::map<std::string, std::int64_t> start_codons_, stop_codons_, introns_;
  std::array<std::int64_t, 4> base_counts_{};
  std::vector<double> genes_, exons_, starts_, stops_;
  std::int64_t on_plus_ = 0;
  std::vector<ReviewedGene> reviewed_;  // a heap, the smallest doubt first
};

}  // namespace semicrf
