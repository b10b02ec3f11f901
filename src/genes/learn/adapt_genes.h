// A gene model for sequences without annotation, from a model of another genome.
//
// Genes are predicted with the model at hand; what they look like is counted, and the next model has these
// tables. The weights of the start are kept: they say how much each kind of evidence is worth, which genomes
// share, and fitted to predictions they would only grow.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "genes/gene_model.h"

namespace semicrf {

struct UnknownSequence {
  std::string name;
  std::vector<std::uint8_t> bases;  // base_codes()
};

struct AdaptGenesOptions {
  int rounds = 1;  // more lose the genes that are unlike the others
  // Probability of its stop codon from which on a gene is counted. Others count neither as genes nor as
  // intergenic sequence.
  double certain = 0.9;
  int threads = 1;
  int genetic_code = 0;  // 0: that of the start
};

struct AdaptedRound {
  int number = 0;            // from 1 on
  std::int64_t genes = 0;    // predicted
  std::int64_t counted = 0;  // those that are certain
  std::int64_t same = 0;     // those that the round before had, too
};

// `start`: a model of train-genes without tracks. `report` is told of each round. InputError naming `fasta`:
// fewer than ten certain genes.
GeneModel adapt_genes(const GeneModel& start, const std::vector<UnknownSequence>& sequences,
                      const std::string& fasta, const AdaptGenesOptions& options,
                      const std::function<void(const AdaptedRound&)>& report);

}  // namespace semicrf
