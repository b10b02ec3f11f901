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
#include "genes/tracks/track_values.h"

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
  // 0 of the sequence. `tracks`: those of the model, in its scales; null where it has none. All must outlive
  // it.
  SequenceSource(const GeneModel& model, const GeneLattice& lattice, const std::vector<std::uint8_t>& bases,
                 std::int64_t begin, std::int64_t end, const TrackValues* tracks = nullptr);

  std::int64_t length() const override { return end_ - begin_; }
  void read(std::int64_t begin, std::int64_t end, LatticeWindow& window) const override;

  // What the terms of signals and contents read of positions and boundaries [begin, end).
  TrackWindow tracks(std::int64_t begin, std::int64_t end) const;
  // The value of a signal's term at a boundary; 0 where the base lies outside of the sequence.
  double term_at(const TrackTerm& term, char strand, std::int64_t boundary, const TrackWindow& tracks) const;
  // The value of a content's term at a position of a column.
  double term_at(const TrackTerm& term, const StrandedModel& column, std::int64_t position,
                 const TrackWindow& tracks) const;

 private:
  // Odds of a motif of a signal on a strand by where it begins, along the strand, made when first asked for.
  struct MotifOdds {
    int model = -1;
    char strand = '+';
    std::int64_t first = 0;  // position of the first
    std::vector<double> odds;
  };
  // Which signals stand at a boundary by the three bases `shift` from it on: by boundary modulo 3, then by
  // word.
  struct TripleSignals {
    std::int64_t shift = 0;
    std::array<std::array<std::uint64_t, 64>, 3> signals{};
  };
  // Whether the signal stands at a boundary of the sequence (frames are not looked at), and its log odds
  // without weight.
  bool stands_at(const StrandedModel& signal, std::int64_t boundary) const;
  double log_odds(const StrandedModel& signal, std::int64_t boundary, std::vector<MotifOdds>& motifs) const;
  double motif_odds(const StrandedModel& signal, std::int64_t boundary, std::vector<MotifOdds>& motifs) const;
  void fill_content(std::int64_t begin, std::int64_t end, const TrackWindow& tracks,
                    LatticeWindow& window) const;
  void add_terms(std::int64_t begin, std::int64_t end, const TrackWindow& tracks,
                 LatticeWindow& window) const;
  std::uint64_t signals_at(std::int64_t boundary, const std::vector<std::uint8_t>& triples,
                           std::int64_t first_triple) const;
  void find_events(std::int64_t begin, std::int64_t end, const TrackWindow& tracks,
                   LatticeWindow& window) const;
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
  const TrackValues* tracks_;
  std::int64_t margin_ = 0;  // bases that terms of signals look beyond their boundary
  struct PreparedSignal {
    std::vector<std::vector<int>> words;       // base codes
    std::vector<std::array<double, 5>> motif;  // odds by base code
  };
  void prepare_triples();
  std::vector<PreparedSignal> signals_;  // by model of signals
  std::vector<TripleSignals> triples_;
  std::uint64_t long_signals_ = 0;  // those of more than three bases
};

}  // namespace semicrf
