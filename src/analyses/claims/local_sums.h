// Sums over the segmentations that agree with a statement about an interval of a stretch. They are natural
// logarithms of probabilities, and have only positive terms (docs/algorithm.md, section 12). -inf: no
// segmentation agrees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analyses/claims/duration_weights.h"
#include "analyses/claims/local_chain.h"

namespace semicrf {

inline constexpr int kNoLabel = -1;

// Which segments may start inside the interval, and which labels may be there at all.
struct Restriction {
  enum class Starts { kNone, kAll, kAllBut };
  Starts starts = Starts::kAll;
  int label = kNoLabel;   // with kAllBut: the label that may not start
  int only = kNoLabel;    // the label of all segments that meet the interval
  int except = kNoLabel;  // the label of no segment that meets the interval

  static Restriction none(int except = kNoLabel) { return {Starts::kNone, kNoLabel, kNoLabel, except}; }
  static Restriction all_but(int label) { return {Starts::kAllBut, label, kNoLabel, kNoLabel}; }
  static Restriction only_label(int label) { return {Starts::kAll, kNoLabel, label, kNoLabel}; }

  bool meets(const ClaimTables& tables, int c) const {
    return (only == kNoLabel || tables.is(c, only)) && (except == kNoLabel || !tables.is(c, except));
  }
  bool allows(const ClaimTables& tables, int c) const {
    return meets(tables, c) &&
           (starts == Starts::kAll || (starts == Starts::kAllBut && !tables.is(c, label)));
  }
};

// Starts and ends are kept for the positions within reach of the interval [begin, end), from `origin_` on.
// For one thread; the stretch must outlive it.
class LocalSums {
 public:
  LocalSums(const ClaimStretch& stretch, std::int64_t begin, std::int64_t end);

  using Wanted = std::function<bool(int c)>;  // whether a label of the chain is one of those asked for

  // No segment starts inside the interval but those that are allowed, of labels that are allowed.
  double avoiding(const Restriction& restriction);
  // A segment of any label starts inside the interval.
  double any_start();
  // A segment of the label starts inside the interval; and none does.
  ClaimResult starts_or_not(int label);
  // A segment of a wanted label starts at the first position.
  double starts_first(const Wanted& wanted);

  // The first position is in a segment of the label, which starts there or before and ends inside the
  // interval, before its last position; and one that holds all of the interval.
  double ends_inside(int label);
  double within(int label);
  // A segment of another label starts inside the interval, and all positions of the interval before it have
  // the label.
  double leaves(int label);

  // Exactly the segment [begin, end) of a label of the chain; and one of the label that starts with the
  // interval and ends anywhere else.
  double segment(int c) const;
  double other_end(int c);

 private:
  using FirstStart = std::function<void(std::int64_t t, int c, double log)>;

  double crossings(const std::vector<const ScaledNumbers*>& starts);
  double first_start(const Restriction& before, const Wanted& wanted, std::vector<ScaledNumbers>& starts);
  void extend(const Restriction& restriction, const FirstStart* first, std::vector<ScaledNumbers>& starts);

  double start_row(int c, std::int64_t t) const { return stretch_.row(rows_.starts, c, t); }
  const DurationWeights& durations(int c) const { return stretch_.tables().durations[c]; }
  std::size_t local(std::int64_t i) const { return i - origin_; }

  const ScaledNumbers& starts_before(int c);
  std::vector<ScaledNumbers> starts_before(const Restriction& restriction);
  ScaledNumbers starts_until_begin(int c);
  const ScaledNumbers& ends(int c);
  const ScaledNumbers& tail_ends(int c);

  double left_tail(int c) const;
  double ended(int c, std::int64_t t, ScaledNumbers& starts, double& tail) const;
  double ended_within_reach(int c, std::int64_t t, ScaledNumbers& starts) const;
  void carry_tail(int c, std::int64_t t, const ScaledNumbers& starts, double& tail) const;
  double started(int c, std::int64_t t, const std::vector<double>& alpha) const;

  double most_crossing(int c, const ScaledNumbers& starts);
  double most_ends(int c);
  double crossing(int c, const ScaledNumbers& starts, double floor);
  double rest_of(int c, std::int64_t t, double floor);

  const ClaimStretch& stretch_;
  const StretchRows& rows_;
  const ChainModel& model_;
  std::int64_t begin_, end_;     // the interval
  std::int64_t origin_, limit_;  // first position and last boundary within reach
  std::vector<std::optional<ScaledNumbers>> before_, ends_, tail_ends_;  // per label
};

}  // namespace semicrf
