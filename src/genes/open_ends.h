// Genes that the ends of a sequence cut off, as contigs of a draft assembly have them.
#pragma once

#include <cstdint>
#include <vector>

#include "genes/gene_model.h"
#include "genes/predict_genes.h"

namespace semicrf {

// The lattice in which a path begins and ends anywhere between genes, in a coding exon or in an intron, in
// every frame and on both strands. What lies beyond an end is summed over: all durations that the first and
// last segment may have had there, and, where a gene has begun there, how often genes come to that state
// (by the transitions of `model`, a bacterium or a model of train-genes). Stop codons, untranslated regions
// and what two genes share are not cut. Probabilities are those of `lattice` where the sequence has no ends.
GeneLattice open_ends(const GeneModel& model, GeneLattice lattice);

// Genes that the sequence cuts off right before a start codon of the model are complete, as those that a
// finished chromosome is rotated to begin with: they become starts_at_end. `bases`: codes of the sequence.
void mark_starts_at_ends(const GeneModel& model, const std::vector<std::uint8_t>& bases,
                         PredictedSequence& sequence);

}  // namespace semicrf
