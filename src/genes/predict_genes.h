// Genes of sequences: the best path through the lattice, and how sure each part of it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "genes/annotation.h"
#include "genes/gene_model.h"

namespace semicrf {

struct PredictedExon {
  CodingExon exon;
  int phase = 0;           // bases before its first whole codon, along the strand: 0, 1, 2
  double probability = 0;  // that there is exactly this exon, in this frame and place of a gene
};

struct PredictedGene {
  char strand = '+';
  std::vector<PredictedExon> exons;  // ascending; the stop codon included
  double probability = 0;            // that there is exactly this gene
  double start_probability = 0;      // that a gene starts at its start codon
  double stop_probability = 0;       // that a gene stops at its stop codon
};

struct PredictedSequence {
  std::int64_t length = 0;
  double log_z = 0;
  double score = 0;  // log score of the best path
  std::vector<PredictedGene> genes;
};

// Probabilities are exact under the model, but for rounding.
PredictedSequence predict_genes(const GeneModel& model, const GeneLattice& lattice,
                                const std::vector<std::uint8_t>& bases, int threads);

// The genes of both: what the strands of a sequence have, each computed by itself. log Z and scores add up.
PredictedSequence both_strands(PredictedSequence plus, const PredictedSequence& minus);

// The lines of one sequence in GFF3: gene, mRNA, exon and CDS. Genes are named after their sequence and
// numbered from 1.
std::string gff_text(const std::string& name, const PredictedSequence& sequence);

// The coding sequence, or the protein without its stop, of each gene as FASTA.
std::string coding_text(const std::string& name, const PredictedSequence& sequence,
                        const std::vector<std::uint8_t>& bases, bool protein);

}  // namespace semicrf
