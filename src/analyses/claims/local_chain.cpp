#include "analyses/claims/local_chain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyses/claims/local_sums.h"
#include "core/sizes.h"

namespace semicrf {
namespace {

// ln(1 - e^x), x <= 0.
double log_complement(double x) {
  if (x >= 0) return kNegativeInfinity;
  return x > -0.6931471805599453 ? std::log(-std::expm1(x)) : std::log1p(-std::exp(x));
}

// P(claim) and P(not claim) from the sums over the segmentations that agree with the claim and over those
// that do not. The larger one is 1 less the smaller one, so that 1 - P keeps its digits, and the opposite of
// what is certain has probability 0.
ClaimResult settled(double log_true, double log_false) {
  if (log_true < log_false) return {log_true, log_complement(log_true)};
  return {log_complement(log_false), log_false};
}

// settled(), where the second sum is computed only if it may be the smaller one.
template <class Sum>
ClaimResult settled_by(double log_true, Sum log_false) {
  if (log_true < std::log(0.5)) return {log_true, log_complement(log_true)};
  return settled(log_true, log_false());
}

ClaimResult opposite(const ClaimResult& result) { return {result.log_false, result.log_true}; }

// The segmentations that contradict a claim about a label fall into two kinds: the segment of the first
// position is not as claimed, or it is, and what follows in the interval is not. This is the sum over the
// first kind.

double others_hold_first(LocalSums& first, const Restriction& crossing, const LocalSums::Wanted& starting) {
  return log_add(first.avoiding(crossing), first.starts_first(starting));
}
}  // namespace

StretchRows StretchRows::mirrored(std::size_t labels) const {
  StretchRows mirror{n, ends, starts, emissions, end_scores, start_scores, right_tails, left_tails, level};
  for (std::vector<double>* rows : {&mirror.starts, &mirror.ends, &mirror.emissions, &mirror.start_scores,
                                    &mirror.end_scores, &mirror.left_tails, &mirror.right_tails}) {
    if (rows->empty()) continue;
    for (std::size_t c = 0; c < labels; ++c)
      std::reverse(rows->begin() + static_cast<std::ptrdiff_t>(c) * n,
                   rows->begin() + static_cast<std::ptrdiff_t>(c + 1) * n);
  }
  return mirror;
}

// In which roles segments start at position t, end with it, or pass a boundary as longer than K, b positions
// from the left edge and `rest` from the right one. A segment over the whole piece is a last one, or a first
// one where it passes a boundary further than K from both.
StretchRows with_edge_roles(const StretchRows& rows, std::int64_t begin, std::int64_t length,
                            const EdgeRoles& roles) {
  const RoleColumns columns = roles.columns();
  const int labels = roles.base().num_labels, longest = roles.base().max_duration;
  // `number(value, c, role, t)`: of the row of a role at position t, from that of the label.
  const auto spread = [&](const std::vector<double>& from, auto number) {
    std::vector<double> to;
    if (from.empty()) return to;
    to.reserve(from.size() * columns.count);
    for (int c = 0; c < labels; ++c)
      for (int role = 0; role < columns.count; ++role)
        for (std::int64_t i = 0; i < rows.n; ++i)
          to.push_back(number(from[c * rows.n + i], c, role, begin + i));
    return to;
  };
  const auto same = [](double value, int, int, std::int64_t) { return value; };
  const auto is_first = [&](int role) { return role != 0 && role == columns.first; };
  const auto is_last = [&](int role) { return role != 0 && role == columns.last; };
  StretchRows result;
  result.n = rows.n;
  result.level = rows.level;
  result.starts = spread(rows.starts, [&](double value, int c, int role, std::int64_t t) {
    if (t > 0 || columns.first == 0) return is_first(role) ? kNegativeInfinity : value;
    if (role == 0) return kNegativeInfinity;
    return is_last(role) ? value + roles.whole_piece(length, c) : value;
  });
  result.ends = spread(rows.ends, [&](double value, int, int role, std::int64_t t) {
    const bool at_cut = t + 1 == length && columns.last != 0;
    return at_cut == is_last(role) ? value : kNegativeInfinity;
  });
  result.emissions = spread(rows.emissions, same);
  result.start_scores = spread(rows.start_scores, same);
  result.end_scores = spread(rows.end_scores, same);
  // `near`, `far`: whether a role is that of segments which the near cut hides in part, and the far one.
  const auto tail = [&](double value, int c, bool near_cut, bool near, bool far) {
    if (far) return value - std::log1p(-std::exp(roles.base().log_tail[c]));
    return near_cut == near ? value : kNegativeInfinity;
  };
  result.left_tails = spread(rows.left_tails, [&](double value, int c, int role, std::int64_t t) {
    return tail(value, c, columns.first != 0 && t + 1 <= longest + 1, is_first(role), is_last(role));
  });
  result.right_tails = spread(rows.right_tails, [&](double value, int c, int role, std::int64_t t) {
    const bool near_cut = columns.last != 0 && length - t <= longest + 1;
    if (near_cut && is_first(role)) return kNegativeInfinity;  // it is a last one
    return tail(value, c, near_cut, is_last(role), is_first(role));
  });
  return result;
}

ClaimTables::ClaimTables(const ChainModel& chain, int count) : model(chain), roles(count) {
  for (int c = 0; c < chain.num_labels; ++c) durations.emplace_back(chain, c);
}

ClaimStretch::ClaimStretch(StretchRows rows, const ClaimTables& tables)
    : rows_(std::move(rows)), tables_(&tables) {
  const std::size_t labels = num_labels();
  content_.assign(labels * (rows_.n + 1), 0.0);
  free_from_.assign(content_.size(), 0);
  free_to_.assign(content_.size(), rows_.n);
  for (int c = 0; c < num_labels(); ++c) {
    for (std::int64_t i = 0; i < rows_.n; ++i) {
      const double score = row(rows_.emissions, c, i);
      const bool forbidden = score == kNegativeInfinity;
      content_[at(c, i + 1)] = content(c, i) + (forbidden ? 0 : score);
      free_from_[at(c, i + 1)] = forbidden ? i + 1 : free_from(c, i);
    }
    for (std::int64_t i = rows_.n; i-- > 0;)
      free_to_[at(c, i)] = row(rows_.emissions, c, i) == kNegativeInfinity ? i : free_to(c, i + 1);
  }
}

LocalClaims::LocalClaims(StretchRows rows, std::int64_t anchor, const ClaimTables& tables,
                         const ClaimTables& mirror)
    : stretch_(std::move(rows), tables), mirror_tables_(mirror) {
  LocalSums sums(stretch_, anchor, anchor + 1);
  const double all = log_add(sums.avoiding(Restriction::none()), sums.any_start());
  if (all > kNegativeInfinity) stretch_.shift(-all);
}

// The segment may begin, or end, in one role alone, but other segments of the label that start with it do so
// in others.
ClaimResult LocalClaims::segment(const Claim& claim, LocalSums& sums, LocalSums& first) const {
  const int roles = stretch_.tables().roles;
  return settled_by(sums.segment(claim.label), [&] {
    const int label = claim.label / roles;
    double rest =
        others_hold_first(first, Restriction::none(), [&](int c) { return !stretch_.tables().is(c, label); });
    for (int c = label * roles; c < (label + 1) * roles; ++c) rest = log_add(rest, sums.other_end(c));
    return rest;
  });
}

ClaimResult LocalClaims::result(const Claim& claim) {
  const std::int64_t n = stretch_.rows().n;
  if (claim.kind == ClaimKind::kEnds) {
    if (!mirror_) mirror_.emplace(stretch_.rows().mirrored(stretch_.num_labels()), mirror_tables_);
    const ClaimResult found = LocalSums(*mirror_, n - claim.end, n - claim.begin).starts_or_not(claim.label);
    return settled(found.log_true, found.log_false);
  }
  const int label = claim.label;
  const auto other = [&](int c) { return !stretch_.tables().is(c, label); };
  LocalSums sums(stretch_, claim.begin, claim.end), first(stretch_, claim.begin, claim.begin + 1);
  const auto none = [&] { return sums.avoiding(Restriction::none()); };
  const auto any = [&] { return sums.any_start(); };
  switch (claim.kind) {
    case ClaimKind::kSegment:
      return segment(claim, sums, first);
    case ClaimKind::kWithin:
      return settled_by(sums.within(label), [&] {
        return log_add(others_hold_first(first, Restriction::none(label), other), sums.ends_inside(label));
      });
    case ClaimKind::kLabel:
      return settled_by(sums.avoiding(Restriction::only_label(label)), [&] {
        return log_add(first.avoiding(Restriction::none(label)), sums.leaves(label));
      });
    case ClaimKind::kStarts: {
      const ClaimResult found = sums.starts_or_not(label);
      return settled(found.log_true, found.log_false);
    }
    case ClaimKind::kNoBoundary:
      return settled_by(none(), any);
    default:
      return opposite(settled_by(none(), any));
  }
}

}  // namespace semicrf
