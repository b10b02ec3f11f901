// The lattice of a DNA sequence: its content, signals and stop codons, made window by window.
#pragma once

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "genes/annotation.h"
#include "genes/gene_model.h"
#include "genes/lattice/lattice.h"
#include "genes/signal_sites.h"
#include "genes/tracks/content_terms.h"
#include "genes/tracks/track_values.h"

namespace semicrf {

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
  SequenceSource(const SequenceSource&) = delete;
  SequenceSource& operator=(const SequenceSource&) = delete;

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
  // The sum of the weighted values of a signal's terms at a boundary.
  double sum_of_terms(const StrandedModel& signal, std::int64_t boundary, const TrackWindow& tracks) const;
  void load_tracks(std::int64_t begin, std::int64_t end, TrackWindow& window) const;
  // Log odds without weight.
  double log_odds(const StrandedModel& signal, std::int64_t boundary, std::vector<MotifOdds>& motifs) const;
  double motif_odds(const StrandedModel& signal, std::int64_t boundary, std::vector<MotifOdds>& motifs) const;
  void prepare_content();
  void prepare_signals();
  void fill_content(std::int64_t begin, std::int64_t end, const TrackWindow& tracks,
                    LatticeWindow& window) const;
  void find_events(const SignalSites::Reader& sites, const TrackWindow& tracks, LatticeWindow& window) const;
  void find_stops(const SignalSites::Reader& sites, LatticeWindow& window) const;

  // Columns whose scores depend on as many bases.
  struct ContentColumn {
    std::size_t column = 0;
    bool plus = true;
    float unknown = 0;                          // the score where a base is not known
    std::array<const float*, kCodon> scores{};  // by base modulo 3; by word; in content_scores_
  };
  struct ContentOrder {
    int order = 0;
    std::vector<ContentColumn> columns;
  };

  // What a signal's terms read of one base.
  struct TermRow {
    std::int64_t at = 0;
    bool other_strand = false;
    std::vector<double> weights;  // (tracks)
  };
  struct PreparedSignal {
    std::vector<std::array<double, 5>> log_odds;  // by place, by base code; 0 for an unknown base
    std::vector<std::array<double, 5>> motif;     // likewise, odds; 1 for an unknown base
    std::vector<TermRow> rows;
  };

  const GeneModel* model_;
  const GeneLattice* lattice_;
  const std::vector<std::uint8_t>* bases_;
  std::vector<std::vector<std::vector<float>>> content_scores_;  // by model, place in the codon, word
  std::vector<ContentOrder> orders_;
  SignalSites sites_;
  std::int64_t begin_, end_;
  const TrackValues* tracks_;
  ContentTerms content_terms_;
  std::int64_t margin_ = 0;  // bases that terms of signals look beyond their boundary
  // Memory of windows that nobody reads: its pages need not be asked for again.
  mutable std::mutex mutex_;
  mutable std::vector<TrackWindow> spare_;
  std::vector<PreparedSignal> signals_;  // by model of signals
};

}  // namespace semicrf
