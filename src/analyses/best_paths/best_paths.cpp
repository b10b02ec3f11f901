#include "analyses/best_paths/best_paths.h"

#include <algorithm>
#include <stdexcept>
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

class BestPathsFinder {
 public:
  BestPathsFinder(Engine& engine, ScoreSource& source, const WindowPlan& plan, const SegmentList& best,
                  std::size_t most, const ProgressCallback& progress)
      : engine_(engine),
        plan_(plan),
        loop_(engine, source, plan, WindowLoop::Scores::kNoFeatures, progress),
        reach_(plan.count() > 1 ? engine.model().max_duration : 0),
        rows_(engine.model(), reach_),
        search_(engine.model(), plan.length, best, most - 1, engine.precision()) {
    if (plan.count() > 1 && plan.left_halo <= reach_)
      throw std::logic_error("the windows of the best paths see too little to their left");
  }

  Deviations run(ChunkTotals& totals) {
    edges_.resize(plan_.count());
    loop_.left_to_right(WindowLoop::States::kAll, [&](std::int64_t n, const ScoreWindow& scores) {
      scores_ = scores;
      ForwardWindow window = compute(n);
      totals.add(window.chunks);
      if (n < loop_.last()) edges_[static_cast<std::size_t>(n) + 1] = rows_.edge();
      return std::move(window.right);
    });
    loop_.right_to_left([&](std::int64_t n) {
      if (n != loop_.last()) {
        scores_ = loop_.read(n);
        compute(n);
      }
      const CentredScores centred(engine_.model(), scores_);
      times_.end("messages");
      search_.search(plan_.range(n), ChoiceFinder(engine_.model(), rows_, centred));
      times_.end("search");
    });
    return search_.finish();
  }

 private:
  ForwardWindow compute(std::int64_t n) {
    ForwardWindow window =
        engine_.best_forward(scores_, plan_.range(n), loop_.left(n), rows_.prepare(plan_.range(n)));
    rows_.finish(window, n == 0 ? nullptr : &edges_[n]);
    return window;
  }

  Engine& engine_;
  const WindowPlan& plan_;
  WindowLoop loop_;
  std::int64_t reach_;
  ForwardRows rows_;
  ScoreWindow scores_;              // scores of the current window
  std::vector<ForwardEdge> edges_;  // the messages before window n; [0] is unused
  DeviationSearch search_;
  StageTimes times_{"best segmentations"};
};

// Losses are known to the precision of the messages, so that paths near the end of the list may come in a
// wrong order: more are looked for than are wanted, and those that score best are taken. In a million bins of
// random scores tens of paths lie within the rounding of float.
std::size_t with_spare(std::size_t most) {
  constexpr std::size_t kLeast = 64, kMost = 1000;
  return most + std::min(most + kLeast, kMost);
}

Deviations find_deviations(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                           const SegmentList& best, const BestPathsRequest& request,
                           const ProgressCallback& progress, ChunkTotals& totals) {
  const std::size_t most = with_spare(static_cast<std::size_t>(request.most));
  if (engine.info().best_messages)
    return BestPathsFinder(engine, source, plan, best, most, progress).run(totals);
  EngineOptions options = request.engine;
  options.backend = EngineOptions::Backend::kCpu;
  options.threads = request.threads;
  const std::unique_ptr<Engine> host = make_engine(options, engine.model());
  const WindowPlan host_plan = plan_windows(source.length(), host->grid(source.length()),
                                            best_paths_needs(*host, source), plan.budget);
  return BestPathsFinder(*host, source, host_plan, best, most, progress).run(totals);
}

}  // namespace

// Sampling needs the same: sweeps that write the forward messages of a window. The pass for log Z writes
// none.
WindowNeeds best_paths_needs(const Engine& engine, const ScoreSource& source) {
  return draw_needs(engine, source);
}

BestPaths find_best_paths(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                          const ViterbiResult& best, const EdgeRoles* roles, const BestPathsRequest& request,
                          const ProgressCallback& progress) {
  BestPaths result;
  result.length = source.length();
  result.log_partition = log_partition(engine, source, plan, progress);
  SegmentList with_roles;
  if (roles != nullptr) {
    result.roles = roles->count();
    with_roles = best.segments.relabelled(
        result.length, [&](const Segment& segment) { return roles->with_role(segment, result.length); });
  }
  result.deviations = find_deviations(engine, source, plan, roles != nullptr ? with_roles : best.segments,
                                      request, progress, result);
  result.paths = rank_paths(result.deviations, with_spare(static_cast<std::size_t>(request.most)));
  result.paths.resize(std::min(result.paths.size(), static_cast<std::size_t>(request.most)));
  const ChainModel& model = engine.model();
  for (const RankedPath& path : result.paths) {
    const double score = best.score.value() + path.gain;
    // Under the uniform initial term log Z sums over all transitions into the first label, where the score of
    // a path has the largest.
    const double log_weight = score + initial_gain(model, path.first_label);
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
