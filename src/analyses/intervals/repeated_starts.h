// The excess of a sum of start posteriors over the probability of a start: it counts a segmentation with
// several starts of a label in one interval several times (docs/algorithm.md, section 12).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyses/claims/duration_weights.h"
#include "analyses/claims/local_chain.h"
#include "analyses/claims/message_sweep.h"
#include "core/chain_model.h"
#include "io/segments/segment_columns.h"

namespace semicrf {

// The tables of a chain that all intervals share.
struct RepeatTables {
  // `count`: as in ClaimTables.
  explicit RepeatTables(const ChainModel& chain, int count = 1);
  ClaimTables claims;
  std::vector<ScaledNumbers> into;  // (C) of C numbers: T[from, to] for every `to`
};

// The repeated starts in the intervals of one boundary, which lie in the positions from `first` on. For one
// thread.
class RepeatedStarts {
 public:
  // `rows`: what a MessageSweep kept of consecutive positions, scores included. `posteriors`: the probability
  // that a segment of `label` (a label of the chain's base) starts at each of them. All must outlive it.
  RepeatedStarts(const RepeatTables& tables, const RowShape& shape, std::span<const double> rows,
                 std::int64_t first, int label, std::span<const double> posteriors)
      : tables_(tables), shape_(shape), rows_(rows), first_(first), label_(label), posteriors_(posteriors) {}

  // The expected number of starts of the label in the interval beyond the first one.
  double expected(const BoundaryInterval& interval) const;

 private:
  double at(std::int64_t t, std::size_t column) const {
    return rows_[static_cast<std::size_t>(t - first_) * shape_.width + column];
  }
  double message(std::int64_t t, int c) const {
    return at(t, 0) + at(t, shape_.starts + static_cast<std::size_t>(c));
  }

  const RepeatTables& tables_;
  const RowShape& shape_;
  std::span<const double> rows_;
  std::int64_t first_;
  int label_;
  std::span<const double> posteriors_;
};

}  // namespace semicrf
