// Repeats that a FASTA file marks by lower case (soft masking), as evidence against coding sequence.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "genes/gene_model.h"
#include "genes/lattice/lattice.h"

namespace semicrf {

// Stretches of lower-case letters: bases, 0-based, half-open, ascending, apart from each other.
std::vector<std::pair<std::int64_t, std::int64_t>> masked_stretches(std::string_view sequence);

// A sequence in which every masked base of coding sequence, on either strand, lowers a score.
class MaskedSequence : public LatticeSource {
 public:
  // `penalty`: natural logarithm, of each base. All must outlive it.
  MaskedSequence(const GeneModel& model, const GeneLattice& lattice, const LatticeSource& source,
                 const std::vector<std::pair<std::int64_t, std::int64_t>>& masked, double penalty);

  std::int64_t length() const override { return source_->length(); }
  void read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const override;

 private:
  const LatticeSource* source_;
  const std::vector<std::pair<std::int64_t, std::int64_t>>* masked_;
  std::size_t columns_;
  std::vector<std::size_t> coding_;  // columns with codons
  float penalty_;
};

}  // namespace semicrf
