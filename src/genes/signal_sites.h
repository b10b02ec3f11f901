// Where the signals of a gene model may stand: their words, and the codons that introns split.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "genes/gene_model.h"
#include "genes/genetic_code.h"

namespace semicrf {

// Bases as numbers: A C G T (or U), either case, 0..3; what else a sequence may hold 4.
std::vector<std::uint8_t> base_codes(std::string_view sequence);

inline constexpr std::uint8_t kUnknownBase = 4;

inline int complement(int base) { return base == kUnknownBase ? base : 3 - base; }

// The base `offset` bases along the strand from a boundary of a sequence.
inline int base_along(const std::vector<std::uint8_t>& bases, std::int64_t boundary, std::int64_t offset,
                      char strand) {
  const std::int64_t at = strand == '+' ? boundary + offset : boundary - 1 - offset;
  if (at < 0 || at >= std::ssize(bases)) return kUnknownBase;
  return strand == '+' ? bases[at] : complement(bases[at]);
}

class SignalSites {
 public:
  // All must outlive it.
  SignalSites(const GeneModel& model, const GeneLattice& lattice, const std::vector<std::uint8_t>& bases);

  // What stands in a stretch of the sequence, by its words of three bases.
  class Reader {
   public:
    // For boundaries in [begin, end).
    Reader(const SignalSites& sites, std::int64_t begin, std::int64_t end);
    // The signals of the lattice that stand at a boundary, a bit for each.
    std::uint64_t at(std::int64_t boundary) const;
    // Whether the three bases from a position on, at most kBarrierReach outside, are a stop codon along a
    // strand.
    bool is_stop(std::int64_t position, char strand) const {
      return (sites_.stops_[triples_[position - first_]] & (strand == '+' ? 1 : 2)) != 0;
    }

   private:
    const SignalSites& sites_;
    std::int64_t first_;                 // position of the first triple
    std::vector<std::uint8_t> triples_;  // the three bases from each position on, or kUnknownTriple
  };

  bool stands_at(const StrandedModel& signal, std::int64_t boundary) const;

  // The bases along the strand of a codon.
  bool is_stop_codon(int a, int b, int c) const { return codons_.is_stop(a, b, c); }
  int base(std::int64_t position) const {
    return position < 0 || position >= std::ssize(*bases_) ? kUnknownBase : (*bases_)[position];
  }
  int along(std::int64_t boundary, std::int64_t offset, char strand) const {
    return base_along(*bases_, boundary, offset, strand);
  }

 private:
  static constexpr std::uint8_t kUnknownTriple = 64;  // one of the bases is not known
  // Which signals stand at a boundary by the three bases `shift` from it on: by boundary modulo 3, then by
  // word.
  struct TripleSignals {
    std::int64_t shift = 0;
    std::array<std::array<std::uint64_t, kUnknownTriple + 1>, 3> signals{};
  };
  void prepare_triples();
  bool has_word(const StrandedModel& signal, const std::vector<std::vector<int>>& words,
                std::int64_t boundary) const;
  bool becomes_stop(SplitCodon split, int next, int second) const;
  bool fits_codon(const StrandedModel& signal, std::int64_t boundary) const;

  const GeneModel* model_;
  const GeneLattice* lattice_;
  const std::vector<std::uint8_t>* bases_;
  CodonTable codons_;
  struct Words {
    std::vector<std::vector<int>> wanted, excluded;  // base codes
  };
  std::vector<Words> words_;  // by model of signals
  std::vector<TripleSignals> triples_;
  std::int64_t reach_ = kBarrierReach;                    // how far from a window they lie
  std::array<std::uint8_t, kUnknownTriple + 1> stops_{};  // by word: 1 a stop codon along +, 2 along -
  std::uint64_t slow_ = 0;                                // signals of words of more than three bases
  std::uint64_t conditional_ = 0;                         // those that more than the three bases decide on
};

}  // namespace semicrf
