#include "analyses/best_paths/best_paths.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "analyses/analysis.h"
#include "analyses/draws/segment_sampler.h"
#include "analyses/posteriors/posteriors.h"
#include "analyses/sequence_report.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "core/chain_model.h"
#include "inputs/statements/constraint_file.h"
#include "log/stage_times.h"

namespace semicrf {

namespace {

Deviations search_deviations(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                             const PieceChain& chain, const SegmentList& best, std::size_t most,
                             const ProgressCallback& progress, ChunkTotals& totals) {
  StageTimes times("best segmentations");
  ForwardPass pass(engine, source, plan, chain, {.semiring = Semiring::kMax, .traces_back = true}, progress);
  const PieceDurations durations(pass.model(), chain.cut(), source.length());
  DeviationSearch search(pass.model(), plan.length, best, most - 1, engine.precision());
  pass.left_to_right(totals, [] {});
  pass.right_to_left([&] {
    const LabelScores scores = pass.scores();
    times.end("messages");
    search.search(pass.range(), ChoiceFinder(pass.model(), durations, pass.rows(), scores));
    times.end("search");
  });
  return search.finish();
}

// Losses are known to the precision of the messages, so that paths near the end of the list may come in a
// wrong order: more are looked for than are wanted, and those that score best are taken. In a million bins of
// random scores tens of paths lie within the rounding of float.
std::size_t with_spare(std::size_t most) {
  constexpr std::size_t kLeast = 64, kMost = 1000;
  return most + std::min(most + kLeast, kMost);
}

Deviations find_deviations(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                           const PieceChain& chain, const SegmentList& best, const BestPathsRequest& request,
                           const ProgressCallback& progress, ChunkTotals& totals) {
  const std::size_t most = with_spare(request.most);
  if (engine.info().best_messages)
    return search_deviations(engine, source, plan, chain, best, most, progress, totals);
  EngineOptions options = request.engine;
  options.backend = EngineOptions::Backend::kCpu;
  options.threads = request.threads;
  const std::unique_ptr<Engine> host = make_engine(options, engine.model());
  PieceChain host_chain = chain;
  std::optional<EdgeWindows> edges;
  if (chain.edges != nullptr) {
    edges = resized(*chain.edges, edge_lengths(*host, chain.cut()->cut(), source.length()));
    host_chain.edges = &*edges;
  }
  const WindowPlan host_plan =
      plan_windows(source.length(), host->grid(source.length()), best_paths_needs(*host, source), plan.budget,
                   lengths_of(host_chain.edges));
  return search_deviations(*host, source, host_plan, host_chain, best, most, progress, totals);
}

}  // namespace

// Sampling needs the same: sweeps that write the forward messages of a window. The pass for log Z writes
// none.
WindowNeeds best_paths_needs(const Engine& engine, const ScoreSource& source) {
  return draw_needs(engine, source);
}

BestPaths find_best_paths(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                          const PieceChain& chain, const ViterbiResult& best, const BestPathsRequest& request,
                          const ProgressCallback& progress) {
  BestPaths result;
  result.length = source.length();
  result.log_partition = log_partition(engine, source, plan, chain, progress);
  result.deviations = find_deviations(engine, source, plan, chain, best.segments, request, progress, result);
  result.paths = rank_paths(result.deviations, with_spare(request.most));
  result.paths.resize(std::min(result.paths.size(), static_cast<std::size_t>(request.most)));
  const ChainModel& model = chain.model(engine);
  const bool has_initial_term = PieceDurations(model, chain.cut(), result.length).has_initial_term();
  for (const RankedPath& path : result.paths) {
    const double score = best.score.value() + path.gain;
    // Under the uniform initial term log Z sums over all transitions into the first label, where the score of
    // a path has the largest.
    const double log_weight = score + (has_initial_term ? initial_gain(model, path.first_label) : 0);
    result.ranks.push_back({score, std::min(0.0, log_weight - result.log_partition)});
  }
  return result;
}

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
  result.put(find_best_paths(context.engine, context.source, plan, context.chain, result.get<ViterbiResult>(),
                             request, context.progress));
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
