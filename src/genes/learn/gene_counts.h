// What annotated genes say of content, signals and lengths, counted.
#pragma once

#include <array>
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

// How probable it is, in a sequence of this composition, that the consensus of the signals which a transition
// passes stands somewhere: the logarithm, which count_genes() subtracts from its score.
double log_chance_of_signals(const GeneModel& model, const GeneTransition& transition,
                             const std::array<double, 4>& composition);

// The composition that the log odds of a model compare with, which has as much A as T and as much C as G:
// with it the probabilities of a row add up to 1. All alike where no row tells.
std::array<double, 4> composition_of(const GeneModel& model);

}  // namespace semicrf
