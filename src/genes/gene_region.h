// A gene between its two ends as a lattice of its own: all ways in which the grammar may make it.
#pragma once

#include <cstdint>
#include <vector>

#include "genes/gene_model.h"
#include "genes/lattice/lattice.h"
#include "genes/lattice/lattice_inference.h"

namespace semicrf {

// The labels that may stand at an end of a gene, and what the rest of the sequence says of each.
struct GeneEnds {
  char strand = '+';
  int frame = 0;               // where its codons begin at its left end, modulo 3
  std::vector<double> before;  // by label: forward message where the gene begins at the left, or -inf
  std::vector<double> behind;  // by label: backward message where it ends at the right, or -inf
  bool cut_left = false, cut_right = false;  // the ends of the sequence cut it off there
};

// The lattice of the paths that go from one end to the other within this gene alone. The messages are
// `initial` and `final` of its labels; signals, columns and labels are those of `lattice`. A gene whose frame
// changes (with introns) keeps `frame` at its left end only.
Lattice lattice_of_gene(const GeneModel& model, const GeneLattice& lattice, const GeneEnds& ends);

// log of the sum over these paths, over positions [begin, end) of the source.
double log_sum_of_gene(const GeneModel& model, const GeneLattice& lattice, const LatticeSource& source,
                       std::int64_t begin, std::int64_t end, const GeneEnds& ends);

// The most probable ways in which the grammar may make it, by falling score: the segments as positions from
// `begin`.
std::vector<LatticePath> best_paths_of_gene(const GeneModel& model, const GeneLattice& lattice,
                                            const LatticeSource& source, std::int64_t begin, std::int64_t end,
                                            const GeneEnds& ends, std::size_t count);

}  // namespace semicrf
