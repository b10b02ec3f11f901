// What annotated genes say of content, signals and lengths, counted.
#pragma once

#include <cstdint>
#include <vector>

#include "genes/annotation.h"
#include "genes/gene_model.h"

namespace semicrf {

// The genes of a sequence that are learned from, ascending and apart from each other. What else is annotated
// is `masked`, and no intergenic sequence.
struct CountedSequence {
  const std::vector<std::uint8_t>* bases = nullptr;
  std::vector<CodingTranscript> genes;
  std::vector<CodingExon> masked;
};

// Fills the tables of `model`, whose states are those of a gene_grammar(), and gives its transitions the
// logarithms of their shares plus the log odds of the consensus of the signals that they pass.
void count_genes(const std::vector<CountedSequence>& sequences, int order, GeneModel& model);

}  // namespace semicrf
