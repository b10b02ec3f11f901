// The lattice of a DNA sequence: its content, signals and stop codons, made window by window.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "genes/annotation.h"
#include "genes/gene_model.h"
#include "genes/lattice/lattice.h"

namespace semicrf {

// Bases as numbers: A C G T (or U), either case, 0..3; what else a sequence may hold 4.
std::vector<std::uint8_t> base_codes(std::string_view sequence);

inline constexpr std::uint8_t kUnknownBase = 4;

inline int complement(int base) { return base == kUnknownBase ? base : 3 - base; }

// The codes of the exons along the strand, joined.
std::vector<int> spliced(const std::vector<std::uint8_t>& bases, const std::vector<CodingExon>& exons,
                         char strand);

class SequenceSource : public LatticeSource {
 public:
  // A source over bases [begin, end) of a sequence; boundaries and positions count from `begin`, frames from
  // 0 of the sequence. All must outlive it.
  SequenceSource(const GeneModel& model, const GeneLattice& lattice, const std::vector<std::uint8_t>& bases,
                 std::int64_t begin, std::int64_t end);

  std::int64_t length() const override { return end_ - begin_; }
  void read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const override;

 private:
  // Whether the signal stands at a boundary of the sequence (frames are not looked at), and its log odds
  // without weight.
  bool stands_at(const StrandedModel& signal, std::int64_t boundary) const;
  double log_odds(const StrandedModel& signal, std::int64_t boundary) const;
  double motif_odds(const StrandedModel& signal, std::int64_t boundary) const;
  void fill_content(std::int64_t begin, std::int64_t end, LatticeWindow& window) const;
  bool stands_at(const StrandedModel& signal, std::int64_t boundary, const std::vector<std::uint8_t>& triples,
                 std::int64_t first_triple) const;
  void find_events(std::int64_t begin, std::int64_t end, LatticeWindow& window) const;
  void find_stops(std::int64_t begin, std::int64_t end, LatticeWindow& window) const;
  int base(std::int64_t position) const {
    return position < 0 || position >= static_cast<std::int64_t>(bases_->size()) ? kUnknownBase
                                                                                 : (*bases_)[position];
  }
  // The base `offset` bases along the strand from a boundary.
  int base_along(std::int64_t boundary, std::int64_t offset, char strand) const;

  const GeneModel* model_;
  const GeneLattice* lattice_;
  const std::vector<std::uint8_t>* bases_;
  std::int64_t begin_, end_;
  struct PreparedSignal {
    std::vector<std::vector<int>> words;   // base codes
    bool is_short = false;                 // words of three bases at most: then by the three bases there,
    std::array<bool, 64> plus{}, minus{};  // as they stand in the sequence, whether a word begins with them
    std::vector<std::array<double, 5>> motif;  // odds by base code
  };
  static void prepare_triples(PreparedSignal& signal);
  std::vector<PreparedSignal> signals_;  // by model of signals
};

}  // namespace semicrf
