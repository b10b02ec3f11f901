#include "analyses/best_paths/k_best.h"

#include "analyses/analysis_list.h"
#include "analyses/sequence_report.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "inputs/statements/constraint.h"

namespace semicrf {
namespace {

// A rank may score far below the best one; segmentations that lack a boundary must be further below.
constexpr double kRankedPenalty = 0x1p19;

bool has_required_boundaries(const SegmentList& path, std::span<const Constraint> constraints) {
  SegmentList::Reader reader(path);
  Segment segment;
  bool more = reader.next(segment);
  for (const Constraint& one : constraints) {
    if (one.kind != Constraint::Kind::kBoundary) continue;
    while (more && segment.begin < one.begin) more = reader.next(segment);
    if (!more || segment.begin != one.begin) return false;
  }
  return true;
}

}  // namespace

WindowNeeds KBest::needs(const Engine& engine, const ScoreSource& source, const PieceChain&) const {
  return best_paths_needs(engine, source);
}

void KBest::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                const BlockSink&) const {
  BestPathsRequest request;
  request.most = most_;
  request.engine = context.analyses.engine.value_or(EngineOptions{});
  request.threads = context.threads;
  result.put(find_best_paths(context.engine, context.source, plan, result.get<ViterbiResult>(),
                             context.chain.roles, request, context.progress));
}

double KBest::least_penalty() const { return kRankedPenalty; }

// Where fewer segmentations meet the constraints than were asked for, the next ones lack a required boundary
// and are dropped.
void KBest::settle(const PieceContext&, const WindowPlan&, std::span<const Constraint> constraints,
                   const ConstraintFindings&, PieceResult& result) const {
  auto& found = result.get<BestPaths>();
  std::size_t kept = 0;
  while (kept < found.ranks.size() &&
         has_required_boundaries(found.segments(kept, result.path()), constraints))
    ++kept;
  found.ranks.resize(kept);
  found.paths.resize(kept);
}

void KBest::record(const PieceRecord& piece, SequenceReport& report) const {
  const auto& found = piece.result.get<BestPaths>();
  SequenceStats& stats = report.stats;
  if (piece.result.find<PosteriorResult>() == nullptr) accumulate(stats.log_partition, found.log_partition);
  report.add_totals(found, 1, piece);
  if (!stats.best) stats.best.emplace();
  RankStats& ranks = stats.best->emplace_back();
  ranks.start = piece.location.begin_base(0);
  ranks.end = piece.location.end_base(piece.positions);
  for (const BestPaths::Rank& rank : found.ranks) {
    ranks.score.push_back(rank.score);
    ranks.log_probability.push_back(rank.log_probability);
  }
}

}  // namespace semicrf
