#include "analyses/intervals/boundary_intervals.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "analyses/sequence_report.h"
#include "core/chain_model.h"
#include "core/threads/parallel.h"

namespace semicrf {

namespace {

// What is stored in place of an interval: there is none; it is one of the answers.
constexpr BoundaryInterval kNone{-1, -1}, kOpen{-2, -2};

// Two segments of a label have another one between them, unless its transition to itself is allowed.
std::int64_t least_distance(const ChainModel& model, int shortest, int label) {
  const auto c = static_cast<std::size_t>(label), labels = static_cast<std::size_t>(model.num_labels);
  return model.transition[c * labels + c] > kNegativeInfinity ? shortest : 2 * shortest;
}

// Bytes kept for the positions that the candidates of one boundary lie in: rows of messages and scores, and
// the segments that start there.
std::size_t most_place_bytes(const ChainModel& model, std::int64_t length) {
  const std::size_t positions = std::min(length, 2 * std::int64_t{StartInterval::kReach});
  return positions * sizeof(double) * (2 + 6 * wide(model.num_labels));
}

}  // namespace

void BoundaryIntervals::append(const std::optional<BoundaryInterval>& interval) {
  stored_.append(interval.value_or(kNone));
}

void BoundaryIntervals::append_open() { stored_.append(kOpen); }

std::optional<BoundaryInterval> BoundaryIntervals::Reader::next() {
  BoundaryInterval interval;
  if (!stored_.next(interval) || interval.lower == kNone.lower) return {};
  if (interval.lower == kOpen.lower) return list_->answers[open_++];
  return interval;
}

IntervalFinder::IntervalFinder(const SegmentList& path, const ChainModel& model, double level)
    : level_(level),
      search_(level, [&model, shortest = shortest_duration(model)](
                         int label) { return least_distance(model, shortest, label); }),
      path_(path) {}

void IntervalFinder::add(const PosteriorBlock& block) {
  for (std::int64_t t = block.range.begin; t < block.range.end; ++t) {
    const std::size_t row = t - block.range.begin;
    if (!in_segment_) in_segment_ = path_.next(segment_);
    search_.add(
        {block.path_start[row], block.path_end[row], block.path_next_start[row], block.path_next_end[row]});
    if (t + 1 == segment_.end) close_segment();
  }
}

void IntervalFinder::close_segment() {
  in_segment_ = false;
  const FoundInterval found = search_.end_segment(segment_);
  if (found.candidates.empty()) return found_.append(found.interval);
  const BoundaryInterval& widest = found.candidates.back().interval;
  open_.push_back({segment_.label,
                   candidates_.size(),
                   std::ssize(found.candidates),
                   {widest.lower, widest.upper + 1},
                   posteriors_.size()});
  for (const IntervalCandidate& one : found.candidates) candidates_.append(one);
  for (const double one : found.posteriors) posteriors_.append(one);
  found_.append_open();
  found_.answers.emplace_back();
}

// The positions of all candidates, sorted; ranges that touch are merged.
std::vector<PositionRange> IntervalFinder::places() const {
  std::vector<PositionRange> all;
  all.reserve(open_.size());
  for (const Open& one : open_) all.push_back(one.place);
  return merged(std::move(all));
}

std::optional<BoundaryInterval> IntervalFinder::settled(const Open& open,
                                                        const RepeatedStarts& repeated) const {
  const std::vector<IntervalCandidate> candidates = candidates_.values(open.first, open.count);
  const auto end = candidates.end();
  // The excess of the sum in one candidate is part of the excess in every candidate that contains it, which
  // nearly always leads to the right one at once.
  constexpr int kSteps = 4;
  auto at = candidates.begin();
  for (int step = 0; step < kSteps && at != end; ++step) {
    const double excess = repeated.expected(at->interval);
    if (at->sum - excess >= level_) return at->interval;
    const auto too_little = [&](const IntervalCandidate& one) { return one.sum - excess < level_; };
    at = std::partition_point(std::next(at), end, too_little);
  }
  at = std::partition_point(at, end, [&](const IntervalCandidate& one) {
    return one.sum - repeated.expected(one.interval) < level_;
  });
  if (at == end) return {};
  return at->interval;
}

BoundaryIntervals IntervalFinder::finish(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                                         const PieceChain& chain, int threads,
                                         const ProgressCallback& progress) {
  if (open_.empty()) {
    if (progress) progress(source.length());
    return std::move(found_);
  }
  const ChainModel& model = chain.model(engine);
  const RowShape shape(model, {false, true, has_boundary_scores(model, source)});
  MessageRows rows(places(), shape.width);
  keep_messages(engine, source, plan, chain, shape, rows, found_.swept.emplace(), progress);
  const RepeatTables tables(model);
  const std::size_t spare = plan.budget - std::min(plan.budget, plan.bytes);
  const std::size_t at_once = 1 + spare / most_place_bytes(model, source.length());
  const auto workers = static_cast<int>(std::min(at_once, static_cast<std::size_t>(threads)));
  parallel_for(workers, open_.size(), [&](std::size_t i, int) {
    const Open& open = open_[i];
    const std::vector<double> own = rows.read(open.place.begin, open.place.end);
    const std::vector<double> posteriors = posteriors_.values(open.first_posterior, open.place.size());
    found_.answers[i] =
        settled(open, RepeatedStarts(tables, shape, own, open.place.begin, open.label, posteriors));
  });
  return std::move(found_);
}

WindowNeeds interval_needs(const Engine& engine, const ScoreSource& source) {
  WindowNeeds needs = log_needs(engine, source);
  const std::size_t labels = engine.model().num_labels;
  needs.engine_bytes = [bytes = needs.engine_bytes,
                        place = most_place_bytes(engine.model(), source.length())](std::int64_t positions) {
    return bytes(positions) + place;
  };
  needs.output_bytes = sizeof(double) * (1 + labels);
  return needs;
}

WindowNeeds CredibleIntervals::needs(const Engine& engine, const ScoreSource& source,
                                     const PieceChain&) const {
  return interval_needs(engine, source);
}

void CredibleIntervals::begin_posteriors(const PieceContext& context, PieceResult& result) const {
  result.emplace<IntervalFinder>(result.path(), context.model(), level_);
}

void CredibleIntervals::add_posteriors(const PosteriorBlock& block, PieceResult& result) const {
  result.get<IntervalFinder>().add(block);
}

void CredibleIntervals::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                            const BlockSink&) const {
  result.put(result.get<IntervalFinder>().finish(context.engine, context.source, plan, context.chain,
                                                 context.threads, context.progress));
  result.drop<IntervalFinder>();
}

void CredibleIntervals::record(const PieceRecord& piece, SequenceReport& report) const {
  if (const auto& swept = piece.result.get<BoundaryIntervals>().swept) report.add_totals(*swept, 1, piece);
}

}  // namespace semicrf
