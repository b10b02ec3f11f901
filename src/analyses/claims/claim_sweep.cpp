#include "analyses/claims/claim_sweep.h"

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/claims/local_chain.h"
#include "analyses/claims/message_sweep.h"
#include "analyses/constraints/constrained_source.h"
#include "analyses/sequence_report.h"
#include "core/threads/parallel.h"

namespace semicrf {

namespace {

// The positions that a claim needs of a sequence of `length`.
PositionRange near(const Claim& claim, const ChainModel& model, std::int64_t length) {
  const std::int64_t reach = claim_reach(model);
  return {std::max<std::int64_t>(0, claim.begin - reach), std::min(length, claim.end + reach)};
}

// The positions that all claims need, sorted; ranges that touch are merged.
std::vector<PositionRange> positions_near(std::span<const Claim> claims, const ChainModel& model,
                                          std::int64_t length) {
  std::vector<PositionRange> all;
  all.reserve(claims.size());
  for (const Claim& claim : claims) all.push_back(near(claim, model, length));
  return merged(std::move(all));
}

std::vector<PositionRange> mirrored(std::vector<PositionRange> ranges, std::int64_t length) {
  std::ranges::reverse(ranges);
  for (PositionRange& range : ranges) range = {length - range.end, length - range.begin};
  return ranges;
}

// Reads the rows of stretches that both sweeps kept, in the layout of LocalClaims.
class StretchReader {
 public:
  StretchReader(std::int64_t length, const RowShape& left, const RowShape& right, const MessageRows& forward,
                const MessageRows& backward, const BoundaryState& state)
      : length_(length), left_(left), right_(right), forward_(forward), backward_(backward) {
    BoundaryState rest = state;
    rest.whole = 0;
    partition_whole_ = state.whole;
    partition_rest_ = log_sum(rest);
  }

  StretchRows read(PositionRange range) const {
    const std::vector<double> there = forward_.read(range.begin, range.end);
    const std::vector<double> back = backward_.read(length_ - range.end, length_ - range.begin);
    StretchRows rows;
    rows.n = range.size();
    const double left_level = there[0], right_level = back[0];
    rows.level = left_level + right_level - partition_whole_ - partition_rest_;
    fill(there, left_, left_.starts, left_level, Order::kSame, rows.starts);
    fill(back, right_, right_.starts, right_level, Order::kMirrored, rows.ends);
    fill(there, left_, left_.emissions, std::nullopt, Order::kSame, rows.emissions);
    if (left_.has_boundary) {
      fill(there, left_, left_.boundary, std::nullopt, Order::kSame, rows.start_scores);
      fill(there, left_, left_.boundary + left_.labels, std::nullopt, Order::kSame, rows.end_scores);
    }
    if (left_.has_tail) {
      fill(there, left_, left_.tails, left_level, Order::kSame, rows.left_tails);
      fill(back, right_, right_.tails, right_level, Order::kMirrored, rows.right_tails);
    }
    return rows;
  }

 private:
  enum class Order { kSame, kMirrored };

  // Copies the numbers from `first` on of every row, label by label; messages, whose level stands before
  // them, are made relative to `level`.
  static void fill(const std::vector<double>& rows, const RowShape& shape, std::size_t first,
                   std::optional<double> level, Order order, std::vector<double>& out) {
    const std::size_t n = rows.size() / shape.width;
    out.resize(n * shape.labels);
    for (std::size_t i = 0; i < n; ++i) {
      const double* row = rows.data() + (order == Order::kSame ? i : n - 1 - i) * shape.width;
      const double shift = level ? row[first - 1] - *level : 0;
      for (std::size_t c = 0; c < shape.labels; ++c) out[c * n + i] = row[first + c] + shift;
    }
  }

  std::int64_t length_;
  const RowShape& left_;
  const RowShape& right_;
  const MessageRows& forward_;
  const MessageRows& backward_;
  double partition_whole_ = 0, partition_rest_ = 0;
};

// A group of claims that are computed from one stretch.
struct ClaimGroup {
  PositionRange range;
  std::vector<std::size_t> members;
};

// The tables of a chain and of the reversed one.
struct ChainTables {
  explicit ChainTables(const ChainModel& chain, int roles = 1)
      : mirror_model(reversed(chain)), claims(chain, roles), mirror(mirror_model, roles) {}
  ChainTables(const ChainTables&) = delete;
  ChainTables& operator=(const ChainTables&) = delete;

  ChainModel mirror_model;
  ClaimTables claims, mirror;
};

// Whether a cut edge of the sequence lies in these positions.
bool meets_cut(const PositionRange& range, CutEdges cut, std::int64_t length) {
  return (cut.left && range.begin == 0) || (cut.right && range.end == length);
}

// Groups the claims from left to right; a group takes claims while its stretch is short.
std::vector<ClaimGroup> group_claims(std::span<const Claim> claims, const ChainModel& model,
                                     std::int64_t length) {
  const std::int64_t most = std::max<std::int64_t>(4096, 4 * claim_reach(model));
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return claims[i].begin; });
  std::vector<ClaimGroup> groups;
  for (const std::size_t i : order) {
    const PositionRange range = near(claims[i], model, length);
    const bool fits = !groups.empty() && range.begin <= groups.back().range.end &&
                      std::max(range.end, groups.back().range.end) - groups.back().range.begin <= most;
    if (!fits) groups.push_back({range, {}});
    groups.back().range.end = std::max(groups.back().range.end, range.end);
    groups.back().members.push_back(i);
  }
  return groups;
}

}  // namespace

WindowNeeds claim_needs(const Engine& engine, const ScoreSource& source) {
  WindowNeeds needs = log_needs(engine, source);
  const std::size_t labels = engine.model().num_labels;
  const std::size_t rows = sizeof(double) * (2 + labels * (engine.model().has_tail() ? 2 : 1));
  // The scores of the reversed sequence are added to these.
  const std::size_t score = engine.precision() == Precision::kFloat ? sizeof(float) : sizeof(double);
  needs.output_bytes = rows + 3 * labels * sizeof(double);
  needs.usual_output_bytes = rows + labels * score;
  return needs;
}

ClaimSweep sweep_claims(Engine& engine, ScoreSource& source, const PieceChain& chain, const WindowPlan& plan,
                        ReversedPiece& mirror, const WindowPlan& mirror_plan, std::span<const Claim> claims,
                        int threads, const ProgressCallback& progress) {
  const ChainModel& model = chain.model(engine);
  const EdgeRoles* const roles = chain.cut();
  const std::int64_t length = source.length();
  const std::vector<PositionRange> wanted = positions_near(claims, model, length);
  const RowShape left(model, {true, true, has_boundary_scores(model, source)});
  const RowShape right(model, {true, false, false});
  MessageRows forward_rows(wanted, left.width), backward_rows(mirrored(wanted, length), right.width);
  ClaimSweep result;
  const std::optional<BoundaryState> state =
      keep_messages(engine, source, plan, chain, left, forward_rows, result, progress);
  if (!state || !keep_messages(mirror.engine(), mirror.source(), mirror_plan, mirror.chain(), right,
                               backward_rows, result, progress))
    return result;
  result.feasible = true;
  result.log_partition = log_sum(*state);
  result.results.resize(claims.size());
  const StretchReader reader(length, left, right, forward_rows, backward_rows, *state);
  const ChainTables tables(model);
  const std::optional<ChainTables> with_roles =
      roles != nullptr ? std::optional<ChainTables>(std::in_place, roles->chain(), roles->count())
                       : std::nullopt;
  const std::vector<ClaimGroup> groups = group_claims(claims, model, length);
  parallel_for(threads, groups.size(), [&](std::size_t g, int) {
    const ClaimGroup& group = groups[g];
    const bool at_cut = roles != nullptr && meets_cut(group.range, roles->cut(), length);
    const ChainTables& own = at_cut ? *with_roles : tables;
    StretchRows rows = reader.read(group.range);
    if (at_cut) rows = with_edge_roles(rows, group.range.begin, length, *roles);
    const std::int64_t anchor = claims[group.members.front()].begin - group.range.begin;
    LocalClaims local(std::move(rows), anchor, own.claims, own.mirror);
    for (const std::size_t i : group.members) {
      Claim claim = claims[i];
      if (at_cut && claim.kind == ClaimKind::kSegment)
        claim.label = roles->with_role({claim.begin, claim.end, claim.label}, length);
      claim.begin -= group.range.begin;
      claim.end -= group.range.begin;
      result.results[i] = local.result(claim);
    }
  });
  return result;
}

WindowNeeds ClaimProbabilities::needs(const Engine& engine, const ScoreSource& source,
                                      const PieceChain&) const {
  return claim_needs(engine, source);
}

// Sweeps the claims with a second engine, for the reversed sequence.
ClaimSweep ClaimProbabilities::sweep(std::span<const Claim> claims, const PieceContext& context,
                                     ScoreSource& source, const PieceChain& chain, const WindowPlan& plan,
                                     const ProgressCallback& progress) {
  EngineOptions options = context.analyses.engine.value_or(EngineOptions{});
  options.threads = context.threads;
  ReversedPiece mirror(options, context.engine, source, chain);
  const WindowPlan mirror_plan =
      plan_windows(source.length(), mirror.engine().grid(source.length()),
                   claim_needs(mirror.engine(), source), plan.budget, lengths_of(mirror.chain().edges));
  return sweep_claims(context.engine, source, chain, plan, mirror, mirror_plan, claims, context.threads,
                      progress);
}

void ClaimProbabilities::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                             const BlockSink&) const {
  PieceClaims wanted = claims_of_(context.identity);
  if (wanted.claims.empty()) {
    if (context.progress) context.progress(passes() * context.source.length());
    return;
  }
  ClaimSweep swept = sweep(wanted.claims, context, context.source, context.chain, plan, context.progress);
  result.feasible = swept.feasible;
  result.put(ClaimFindings{std::move(swept), std::move(wanted.numbers)});
}

// The probability of a claim that contradicts a required boundary is that of segmentations which lack the
// boundary. Where that may be so, the claim is computed once more under the largest penalty, which decides
// it, but would cost the other claims too many digits.
void ClaimProbabilities::settle(const PieceContext& context, const WindowPlan& plan,
                                std::span<const Constraint> constraints, const ConstraintFindings& found,
                                PieceResult& result) const {
  auto* const findings = result.find<ClaimFindings>();
  if (findings == nullptr || !require_boundaries(constraints)) return;
  std::vector<ClaimResult>& results = findings->swept.results;
  const auto may_lack = [&](const ClaimResult& one, double penalty) {
    return found.may_lack_boundary(std::min(one.log_true, one.log_false), penalty);
  };
  const std::vector<Claim> all = claims_of_(context.identity).claims;
  std::vector<Claim> claims;
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!may_lack(results[i], found.penalty)) continue;
    claims.push_back(all[i]);
    numbers.push_back(i);
  }
  if (claims.empty()) return;
  ConstrainedPiece strict(context.engine.model(), context.source, context.chain, constraints, context.threads,
                          kLargestPenalty);
  const ClaimSweep swept = sweep(claims, context, strict.source(), strict.chain(), plan, {});
  for (std::size_t i = 0; i < claims.size(); ++i) {
    ClaimResult one = swept.results[i];
    if (may_lack(one, kLargestPenalty))
      one = one.log_true < one.log_false ? ClaimResult{kNegativeInfinity, 0}
                                         : ClaimResult{0, kNegativeInfinity};
    results[numbers[i]] = one;
  }
}

void ClaimProbabilities::record(const PieceRecord& piece, SequenceReport& report) const {
  const auto* const found = piece.result.find<ClaimFindings>();
  if (found == nullptr) return;
  accumulate(report.stats.log_partition, found->swept.log_partition);
  report.add_totals(found->swept, 2, piece);
}

void ClaimProbabilities::record_infeasible(SequenceReport& report) const { report.add_no_log_partition(); }

}  // namespace semicrf
