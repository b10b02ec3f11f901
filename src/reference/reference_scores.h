// The centred scores of a whole sequence in double, as the reference engine reads them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/chain_model.h"
#include "core/score_window.h"

namespace semicrf {

// Owns a copy: (T, C) doubles for the emissions, and as many for start and end scores where the window has
// them.
class ReferenceScores {
 public:
  // `whole` covers [0, T), T >= 1; std::logic_error otherwise.
  ReferenceScores(const ChainModel& model, const ScoreWindow& whole);

  std::int64_t length() const { return length_; }
  // fbar[t,c]
  double emission(std::int64_t t, int c) const { return emissions_[index(t, c)]; }
  // Ps[t,c], pi_start included at t = 0.
  double start(std::int64_t t, int c) const { return boundary_score(starts_, first_start_, t == 0, t, c); }
  // Pe[t,c], pi_end included at t = T-1.
  double end(std::int64_t t, int c) const { return boundary_score(ends_, last_end_, t + 1 == length_, t, c); }
  // max_c fbar[t,c] rounded to an integer, 0 where all are -inf: by about how much messages change across
  // position t.
  double typical_step(std::int64_t t) const;

 private:
  std::size_t index(std::int64_t t, int c) const { return t * num_labels_ + c; }
  double boundary_score(const std::vector<double>& table, const std::vector<double>& extra, bool at_edge,
                        std::int64_t t, int c) const {
    double score = table.empty() ? 0.0 : table[index(t, c)];
    if (at_edge && !extra.empty()) score += extra[c];
    return score;
  }

  std::int64_t length_;
  int num_labels_;
  std::vector<double> emissions_;               // (T, C)
  std::vector<double> starts_, ends_;           // (T, C) or empty
  std::vector<double> first_start_, last_end_;  // (C) or empty: pi_start, pi_end
};

// The chain as the reference engine reads it: the transition may depend on the duration of the segment that
// it leads to. No other engine takes such a chain: the sum over sources does not leave the sum over durations
// there (docs/paper.md).
struct ReferenceModel : ChainModel {
  // (K, C, C) [k-1][from][to], in place of `transition`; what is longer than K has row K. Empty:
  // `transition`.
  std::vector<double> transition_by_duration;

  explicit ReferenceModel(ChainModel model, std::vector<double> by_duration = {})
      : ChainModel(std::move(model)), transition_by_duration(std::move(by_duration)) {}

  bool by_duration() const { return !transition_by_duration.empty(); }
  double transition_into(std::int64_t duration, int from, int to) const {
    if (!by_duration()) return transition_at(from, to);
    return transition_by_duration[transition_index(duration, from, to)];
  }
  // The entry of `transition_by_duration`, or of `transition` where there is one for all durations.
  std::size_t transition_index(std::int64_t duration, int from, int to) const {
    const std::int64_t row = by_duration() ? std::min<std::int64_t>(duration, max_duration) - 1 : 0;
    return (row * num_labels + from) * num_labels + to;
  }
};

}  // namespace semicrf
