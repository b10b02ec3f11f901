// Genes of sequences: the best path through the lattice, and how sure each part of it is.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "genes/annotation.h"
#include "genes/gene_model.h"
#include "genes/tracks/track_values.h"

namespace semicrf {

struct PredictedExon {
  CodingExon exon;
  int phase = 0;           // bases before its first whole codon, along the strand: 0, 1, 2
  double probability = 0;  // that there is exactly this exon, in this frame and place of a gene
};

// Another way to make the gene between its start and stop codon.
struct PredictedAlternative {
  std::vector<PredictedExon> exons;  // without probabilities
  double probability = 0;            // that the gene is made exactly so
};

struct PredictedGene {
  char strand = '+';
  std::vector<PredictedExon> exons;  // CDS, ascending; the stop codon included
  double probability = 0;            // that there is exactly this coding sequence
  double start_probability = 0;      // that a gene starts at its start codon
  double stop_probability = 0;       // that a gene stops at its stop codon
  // The end of the sequence cuts it off within its coding sequence or an intron, there without a start or
  // stop codon, whose probability is 0 then; its own one is that of what there is of it.
  bool cut_left = false, cut_right = false;
  // Complete, but its start codon is at the end of the sequence, so that no start signal was seen there and
  // its probability is 0: not known (mark_starts_at_ends of open_ends.h).
  bool starts_at_end = false;
  std::vector<PredictedAlternative> alternatives;  // the most probable first
  // With untranslated regions: their exons and parts of exons, the whole exons, all ascending and without
  // phases; and that there is exactly this transcript. Without: empty, and `probability`.
  std::vector<PredictedExon> untranslated, whole_exons;
  double transcript_probability = 0;

  bool has_start() const { return !starts_at_end && (strand == '+' ? !cut_left : !cut_right); }
  bool has_stop() const { return strand == '+' ? !cut_right : !cut_left; }
};

struct PredictedSequence {
  std::int64_t length = 0;
  double log_z = 0;
  double score = 0;  // log score of the path, the best one where `missed_cost` is 1; -inf: there is none
  std::vector<PredictedGene> genes;
  int genetic_code = 1;  // in kGeneticCodes
};

// Alternatives that are less probable are not told.
inline constexpr double kLeastAlternative = 1e-3;

// `lattice`: that of the model, perhaps with more barriers or open_ends(). Probabilities are exact under the
// model, but for rounding. `alternatives`: of each gene that is not cut, at most. `missed_cost` (> 0): how
// many times as much a gene that is missed costs as one that is not there. The genes are those of the best
// path of a lattice in which each start codon scores its logarithm more; what is told of them is not changed.
PredictedSequence predict_genes(const GeneModel& model, const GeneLattice& lattice,
                                const LatticeSource& source, int threads, int alternatives = 0,
                                double missed_cost = 1);
PredictedSequence predict_genes(const GeneModel& model, const GeneLattice& lattice,
                                const std::vector<std::uint8_t>& bases, int threads);

// The genes of both: what the strands of a sequence have, each computed by itself. log Z and scores add up.
PredictedSequence both_strands(PredictedSequence plus, const PredictedSequence& minus);

}  // namespace semicrf
