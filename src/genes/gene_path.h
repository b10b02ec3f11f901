// Genes as paths through a lattice, and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "genes/annotation.h"
#include "genes/gene_model.h"
#include "genes/lattice/lattice_inference.h"

namespace semicrf {

// The name of the state of exon i: single, initial, internal or terminal.
const char* state_of_exon(const CodingTranscript& gene, std::size_t i);

// Segments of bases [begin, end) of a sequence with these genes, in positions from `begin`. The genes lie
// inside with a base at the edges, ascending by begin and by end. Nothing where the grammar has no labels for
// one of them or for what two share (an exon without a codon, a prokaryote with introns, an overlap of
// genes with introns, untranslated exons). The sequence is asked only where the
// grammar has several kinds of introns.
std::optional<std::vector<LatticeSegment>> path_of_genes(const GeneModel& model, const GeneLattice& lattice,
                                                         const std::vector<std::uint8_t>& bases,
                                                         const std::vector<CodingTranscript>& genes,
                                                         std::int64_t begin, std::int64_t end);

// A gene of a path. Segments of its coding sequence: [first, last) of it; with what is not translated:
// [transcript_first, transcript_last).
struct PathGene {
  std::size_t transcript_first = 0, transcript_last = 0;
  std::size_t first = 0, last = 0;
  char strand = '+';
  std::vector<CodingExon> exons;  // CDS, bases of the sequence; coding states that touch are one exon
  std::vector<CodingExon> untranslated;
  // The path begins, or ends, within its coding sequence or an intron of it (which is in [first, last) then).
  bool cut_left = false, cut_right = false;
  // Bases of the sequence before the first base of a codon in the exon at a cut, along the strand: 0, 1, 2;
  // a gene with its start codon has 0.
  int first_phase = 0;
};

// Those with coding bases.
std::vector<PathGene> genes_of_path(const GeneModel& model, const GeneLattice& lattice,
                                    const std::vector<LatticeSegment>& path, std::int64_t begin);

}  // namespace semicrf
