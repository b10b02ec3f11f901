// What else is known of the genes of a sequence: introns from reads, coding exons, start and stop codons.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "genes/gene_model.h"
#include "genes/lattice/known_boundaries.h"
#include "genes/lattice/lattice.h"

namespace semicrf {

enum class HintKind { kIntron, kCoding, kStart, kStop };

struct GeneHint {
  HintKind kind = HintKind::kIntron;
  char strand = '+';
  std::int64_t begin = 0, end = 0;  // bases, 0-based, half-open
  std::int64_t line = 0;
};

struct GeneHints {
  std::string path;
  std::map<std::string, std::vector<GeneHint>, std::less<>> of_sequence;  // by begin, then end
};

// The lines of kind intron, CDS, start_codon and stop_codon of a GFF3 or GTF file, plain or compressed;
// others are passed over. InputError with the line: fields that are missing or no numbers, a strand that is
// neither + nor -, codons that are not three bases; no such line at all.
GeneHints read_hints(const std::string& path);

struct HintUse {
  bool constraints = false;  // they are true; else each adds to the score of what agrees with it
  double weight = 5;         // natural logarithm: for each boundary that it names, or for all bases of a CDS
};

// A sequence with its hints, and the lattice to use with it. All must outlive it.
class HintedSequence : public LatticeSource {
 public:
  // `strand`: whose hints count; '.': those of both. InputError naming the file and the line: with
  // constraints, an intron, start or stop whose signals do not stand in the sequence or that the grammar does
  // not have, or introns that overlap; a hint beyond the end.
  HintedSequence(const GeneModel& model, const GeneLattice& lattice, const LatticeSource& source,
                 const GeneHints& hints, const std::string& name, const HintUse& use, char strand);

  const GeneLattice& lattice() const { return lattice_; }
  std::int64_t length() const override { return source_->length(); }
  void read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const override;

 private:
  struct Bonus {
    std::int64_t at = 0;
    std::uint64_t signals = 0;
    std::int64_t line = 0;
  };
  template <class Visit>
  void visit_coding(std::int64_t begin, std::int64_t end, const Visit& visit) const;
  std::uint64_t signals_of(const char* name, char strand) const;
  void add_boundaries(const GeneHint& hint);
  void forbid_other_than_coding();
  void constrain(const std::string& path);
  void add_scores(LatticeWindow& window) const;
  void add_content(LatticeWindow& window) const;

  const GeneModel* model_;
  GeneLattice lattice_;
  const LatticeSource* source_;
  HintUse use_;
  std::vector<GeneHint> introns_, coding_;  // by begin
  std::int64_t longest_coding_ = 0;
  std::vector<Bonus> boundaries_;  // that hints name, ascending
  KnownBoundaries known_;
  int coding_kind_ = -1;  // the barrier of what is not coding on +; the next: on -
};

}  // namespace semicrf
