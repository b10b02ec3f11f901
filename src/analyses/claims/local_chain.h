// A stretch of a sequence, and the messages from both sides of it: what the probability of a claim about an
// interval of the stretch is made of (docs/algorithm.md, section 12).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyses/claims/claim.h"
#include "analyses/claims/duration_weights.h"
#include "core/chain_model.h"
#include "core/sizes.h"
#include "model/scores/edge_roles.h"

namespace semicrf {

// Messages and scores of n positions, label by label: [c * n + i]. Natural logarithms; messages are relative
// to levels whose sum, less log Z, is `level`.
struct StretchRows {
  std::int64_t n = 0;
  std::vector<double> starts;        // (C, n): everything before a segment that starts at position i
  std::vector<double> ends;          // (C, n): everything after a segment that has its last position at i
  std::vector<double> emissions;     // (C, n), centred
  std::vector<double> start_scores;  // (C, n): Ps with pi_start, or empty where all are 0
  std::vector<double> end_scores;    // (C, n): Pe with pi_end, or empty
  // (C, n), or empty: segments longer than K that are open at the boundary right of position i from the
  // left, and at the boundary left of it from the right.
  std::vector<double> left_tails, right_tails;
  double level = 0;

  // The rows of the reversed stretch: read from right to left, starts and ends exchanged.
  StretchRows mirrored(std::size_t labels) const;
};

// The rows of a stretch, in the labels of the model, as rows of the chain of `roles`, where an edge of the
// sequence of `length` that is a cut lies in the stretch. `begin`: the first position of the stretch. What
// passes an interval further than K away from a cut counts as a segment that is seen whole.
StretchRows with_edge_roles(const StretchRows& rows, std::int64_t begin, std::int64_t length,
                            const EdgeRoles& roles);

// The tables of a chain that all claims share.
struct ClaimTables {
  // `count`: the roles of a label in the chain of a piece that was cut (EdgeRoles); 1: it was not.
  explicit ClaimTables(const ChainModel& chain, int count = 1);
  // Whether label c of the chain is one of the label that a claim is about.
  bool is(int c, int label) const { return c / roles == label; }
  const ChainModel& model;
  int roles;
  std::vector<DurationWeights> durations;  // per label
};

// The number of positions before and after its interval that a claim needs in its stretch, as far as the
// sequence has them.
inline std::int64_t claim_reach(const ChainModel& model) { return model.max_duration + 1; }

// A stretch with the tables that all claims about it need.
class ClaimStretch {
 public:
  // The tables must outlive it.
  ClaimStretch(StretchRows rows, const ClaimTables& tables);

  const StretchRows& rows() const { return rows_; }
  // Makes all sums larger by `level`.
  void shift(double level) { rows_.level += level; }
  const ClaimTables& tables() const { return *tables_; }
  int num_labels() const { return tables_->model.num_labels; }
  double row(const std::vector<double>& rows, int c, std::int64_t i) const { return rows[c * rows_.n + i]; }
  // The content S up to boundary i = 0..n, forbidden positions left out.
  double content(int c, std::int64_t i) const { return content_[at(c, i)]; }
  // The least s so that no position of [s, i) is forbidden, and the largest e so that none of [i, e) is.
  std::int64_t free_from(int c, std::int64_t i) const { return free_from_[at(c, i)]; }
  std::int64_t free_to(int c, std::int64_t i) const { return free_to_[at(c, i)]; }

 private:
  std::size_t at(int c, std::int64_t i) const { return c * (rows_.n + 1) + i; }

  StretchRows rows_;
  const ClaimTables* tables_;
  std::vector<double> content_;          // (C, n+1)
  std::vector<std::int64_t> free_from_;  // (C, n+1)
  std::vector<std::int64_t> free_to_;    // (C, n+1)
};

class LocalSums;

// Computes the probabilities of claims about one stretch. Their intervals are in positions of the stretch.
// Labels are those of the base model, but the label of a kSegment claim is one of the chain with roles. For
// one thread.
class LocalClaims {
 public:
  // `tables` belong to the chain, `mirror` to the reversed chain; both must outlive this object. At position
  // `anchor`, which has as much of the sequence around it as claims have, the probabilities are made to sum
  // to 1: log Z and messages of a float engine lose digits along a sequence, which this takes out.
  LocalClaims(StretchRows rows, std::int64_t anchor, const ClaimTables& tables, const ClaimTables& mirror);
  ClaimResult result(const Claim& claim);

 private:
  ClaimResult segment(const Claim& claim, LocalSums& sums, LocalSums& first) const;

  ClaimStretch stretch_;
  const ClaimTables& mirror_tables_;
  std::optional<ClaimStretch> mirror_;  // made for the first claim about ends
};

}  // namespace semicrf
