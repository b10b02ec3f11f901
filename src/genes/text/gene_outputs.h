// Predicted genes as GFF3 and FASTA.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "genes/predict_genes.h"

namespace semicrf {

// The lines of one sequence in GFF3: gene, mRNA, exon and CDS. Genes are named after their sequence and
// numbered from 1; alternatives are further mRNA, whose exons have no score. Genes that the ends of the
// sequence cut off have partial, start_range and end_range, as in files of NCBI, and no p_start or p_stop
// there. A gene whose start codon is at an end of the sequence has no p_start alone.
std::string gff_text(const std::string& name, const PredictedSequence& sequence);

// The coding sequence, or the protein without its stop, of each mRNA as FASTA: from the first whole codon on.
// Start codons are M.
std::string coding_text(const std::string& name, const PredictedSequence& sequence,
                        const std::vector<std::uint8_t>& bases, bool protein);

}  // namespace semicrf
