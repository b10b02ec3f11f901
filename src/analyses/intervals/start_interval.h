// The smallest interval around a boundary of the path that contains a boundary into the same label with a
// wanted probability, as far as the posteriors of its positions determine it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analyses/claims/duration_weights.h"
#include "analyses/claims/local_chain.h"
#include "analyses/claims/message_sweep.h"
#include "core/chain_model.h"
#include "core/segment.h"
#include "io/segments/segment_columns.h"

namespace semicrf {

// The posteriors along a path that intervals are made of.
struct PathPosteriors {
  double start = 0;       // a segment of this segment's label starts here
  double end = 0;         // a segment of this segment's label has its last position here
  double next_start = 0;  // a segment of the next segment's label starts here
  double next_end = 0;    // a segment of that label has its last position here
};

// An interval that posteriors alone cannot refuse: `sum` is the expected number of starts in it, at least the
// wanted probability.
struct IntervalCandidate {
  BoundaryInterval interval;
  double sum = 0;
};

// Either the interval (nothing: no interval in reach is probable enough), or candidates for it, each inside
// the next one, and the start posteriors of the positions of the last candidate.
struct FoundInterval {
  std::optional<BoundaryInterval> interval;
  std::vector<IntervalCandidate> candidates;
  std::vector<double> posteriors;
};

// The interval begins as the boundary b alone and takes the neighbour with the larger posterior p(t) of a
// start of the label that b leads to (the left one where both are equal) until P(a segment of that label
// starts in it) is at least `level`. It stays inside the two segments beside b, so that it holds neither of
// their outer boundaries, and within kReach bins of b.
//
// The sum of p over the interval is the expected number of such starts. It exceeds the probability by the
// expected number of those after the first, each of which comes after an end of the label in the interval, so
// that the sum of the posteriors of these ends is a bound of the difference. Most intervals are decided by
// that; of the others candidates are left.
class StartInterval {
 public:
  static constexpr std::size_t kReach = std::size_t{1} << 14;  // bins to each side

  // `level` in (0, 1). `least_distance(label)`: the least distance between two starts of the label, in bins.
  StartInterval(double level, std::function<std::int64_t(int)> least_distance)
      : level_(level), least_distance_(std::move(least_distance)) {}

  // Adds the next position of a piece, from its first one on.
  void add(const PathPosteriors& at);
  // The interval of a segment's start, after the last position of the segment. The first segment starts where
  // the piece begins.
  FoundInterval end_segment(const Segment& segment);

 private:
  // Start and end posteriors of a label, position by position.
  struct Posteriors {
    std::vector<double> starts, ends;
    void add(double start, double end) {
      starts.push_back(start);
      ends.push_back(end);
    }
    void keep_last(std::size_t count);
    void clear();
  };
  FoundInterval grown(const Segment& segment) const;
  void add_posteriors(std::int64_t boundary, FoundInterval& found) const;

  double level_;
  std::function<std::int64_t(int)> least_distance_;
  bool first_ = true;  // the current segment is the first one of the piece
  Posteriors left_;    // last positions of the segment before, label of this one
  Posteriors here_;    // first positions of this segment, its label
  Posteriors next_;    // last positions of this segment, label of the next one
};

// The excess of a sum of start posteriors over the probability of a start: it counts a segmentation with
// several starts of a label in one interval several times (docs/algorithm.md, section 12).
//
// The tables of a chain that all intervals share.
struct RepeatTables {
  explicit RepeatTables(const ChainModel& chain);
  ClaimTables claims;
  std::vector<ScaledNumbers> into;  // (C) of C numbers: T[from, to] for every `to`
};

// The repeated starts in the intervals of one boundary, which lie in the positions from `first` on. For one
// thread.
class RepeatedStarts {
 public:
  // `rows`: what a MessageSweep kept of consecutive positions, scores included. `posteriors`: the probability
  // that a segment of `label` starts at each of them. All must outlive it.
  RepeatedStarts(const RepeatTables& tables, const RowShape& shape, std::span<const double> rows,
                 std::int64_t first, int label, std::span<const double> posteriors)
      : tables_(tables), shape_(shape), rows_(rows), first_(first), label_(label), posteriors_(posteriors) {}

  // The expected number of starts of the label in the interval beyond the first one.
  double expected(const BoundaryInterval& interval) const;

 private:
  double at(std::int64_t t, std::size_t column) const { return rows_[(t - first_) * shape_.width + column]; }
  double message(std::int64_t t, int c) const { return at(t, 0) + at(t, shape_.starts + c); }

  const RepeatTables& tables_;
  const RowShape& shape_;
  std::span<const double> rows_;
  std::int64_t first_;
  int label_;
  std::span<const double> posteriors_;
};

}  // namespace semicrf
