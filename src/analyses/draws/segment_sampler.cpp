#include "analyses/draws/segment_sampler.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>
#include <vector>

#include "analyses/sequence_report.h"
#include "engine/device_memory.h"
#include "inputs/rows/random_stream.h"
#include "windows/memory_budget.h"

namespace semicrf {

namespace {

constexpr std::size_t kStretch = 4096;  // segments that are found before they are packed

class Sampler {
 public:
  Sampler(Engine& engine, ScoreSource& source, const WindowPlan& plan, const PieceChain& chain,
          const DrawRequest& request, const ProgressCallback& progress)
      : pass_(engine, source, plan, chain, {.traces_back = true}, progress), length_(source.length()) {
    const PieceDurations durations(pass_.model(), chain.cut(), length_);
    for (int i = 0; i < request.draws; ++i) {
      const RandomStream random(request.key, kDrawPurpose + i);
      tracers_.emplace_back(pass_.model(), durations, random, request.origin);
      result_.draws.push_back({0, SegmentList(kSpoolMemory / wide(request.draws))});
    }
    cursors_.resize(tracers_.size());
  }

  DrawResult run() {
    if (!pass_.left_to_right(result_, [] {}) || !begin_draws()) return {};
    pass_.right_to_left([&] {
      const DrawWindow window{pass_.range(), &pass_.rows(), pass_.scores()};
      for (std::size_t i = 0; i < tracers_.size(); ++i) trace(window, i);
    });
    for (std::size_t i = 0; i < tracers_.size(); ++i)
      result_.draws[i].log_likelihood = cursors_[i].log_likelihood.value();
    return std::move(result_);
  }

 private:
  // False when no segmentation is possible.
  bool begin_draws() {
    result_.log_partition = log_sum(pass_.at_end());
    result_.feasible = result_.log_partition > kNegativeInfinity;
    const std::vector<double> messages = pass_.last_messages();
    for (std::size_t i = 0; i < tracers_.size() && result_.feasible; ++i)
      tracers_[i].choose_last_label(messages, length_, cursors_[i]);
    return result_.feasible;
  }

  void trace(const DrawWindow& window, std::size_t draw) {
    bool more = true;
    while (more) {
      reversed_.clear();
      more = tracers_[draw].trace(window, cursors_[draw], reversed_, kStretch);
      result_.draws[draw].segments.append_reversed(reversed_);
    }
  }

  ForwardPass pass_;
  std::int64_t length_;              // T
  std::vector<DrawTracer> tracers_;  // one per sample
  std::vector<DrawCursor> cursors_;
  std::vector<Segment> reversed_;
  DrawResult result_;
};

}  // namespace

WindowNeeds draw_needs(const Engine& engine, const ScoreSource& source) {
  WindowNeeds needs = log_needs(engine, source);
  needs.engine_bytes = [&engine](std::int64_t positions) {
    const ChainModel& model = engine.model();
    const std::size_t row = sizeof(double) * (1 + model.num_labels);
    return engine.posterior_bytes(positions) + 2 * row * model.max_duration;
  };
  needs.usual_engine_bytes = {};
  needs.output_bytes = ForwardRows::bytes_per_position(engine.model());
  return needs;
}

DrawResult draw_segmentations(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                              const PieceChain& chain, const DrawRequest& request,
                              const ProgressCallback& progress) {
  return Sampler(engine, source, plan, chain, request, progress).run();
}

using Phase = TraceCursor::Phase;

void DrawTracer::choose_last_label(const std::vector<double>& messages, std::int64_t length,
                                   DrawCursor& cursor) {
  logs_ = messages;
  cursor.at.phase = Phase::kFindStart;
  cursor.at.boundary = cursor.at.segment_end = length;
  cursor.at.label = static_cast<int>(choose(uniforms(length)[1], cursor));
}

bool DrawTracer::trace(const DrawWindow& window, DrawCursor& cursor, std::vector<Segment>& reversed,
                       std::size_t stretch) {
  while (cursor.at.phase != Phase::kDone && cursor.at.boundary > window.range.begin) {
    if (reversed.size() >= stretch) return true;
    switch (cursor.at.phase) {
      case Phase::kFindStart:
        choose_start(window, cursor, reversed);
        break;
      case Phase::kInTail:
        follow_tail(window, cursor, reversed);
        break;
      default:
        choose_source(window, cursor);
    }
  }
  return false;
}

// A segment of c ends at boundary e: its start is e-k with a weight of start + content + B[k] for k <= K;
// else it is in the tail.
void DrawTracer::choose_start(const DrawWindow& window, DrawCursor& cursor, std::vector<Segment>& reversed) {
  const std::int64_t e = cursor.at.boundary;
  const int c = cursor.at.label;
  const std::int64_t longest = model_->max_duration;
  const double base = window.rows->alpha(e, c).level;
  CompensatedSum content;
  const auto extend = [&](std::int64_t t) {
    const double score = t < 0 ? kNegativeInfinity : window.scores.emission(t, c);
    if (score > kNegativeInfinity) content.add(score);
    return score > kNegativeInfinity;
  };
  logs_.clear();
  std::int64_t k = 1;
  for (; k <= longest && extend(e - k); ++k) {
    const LogMessage before = window.rows->start(e - k, c);
    logs_.push_back(content.plus(before.level - base) + (before.value + durations_.score({e - k, e, c})));
  }
  const bool may_be_longer = k > longest && model_->has_tail() && extend(e - longest - 1);
  if (may_be_longer) {
    const double ending = durations_.out_of_tail(e, c);
    logs_.push_back(entering(window, e, c, content, base) + ending);
    logs_.push_back(continuing(window, e, c, base) + ending);
  }
  const auto choice = static_cast<std::int64_t>(choose(uniforms(e)[0], cursor));
  if (choice <= longest) return found(e - choice - 1, cursor, reversed);
  content.add(-window.scores.emission(e - 1, c));
  cursor.tail_content = content;
  cursor.at.phase = Phase::kInTail;
  cursor.at.boundary = e - 1;
}

void DrawTracer::follow_tail(const DrawWindow& window, DrawCursor& cursor, std::vector<Segment>& reversed) {
  const std::int64_t b = cursor.at.boundary;
  const int c = cursor.at.label;
  const std::int64_t start = b - model_->max_duration - 1;
  const double base = window.rows->tail(b, c).level;
  const double first = window.scores.emission(start, c);
  if (first > kNegativeInfinity) cursor.tail_content.add(first);
  logs_.assign({first > kNegativeInfinity ? entering(window, b, c, cursor.tail_content, base) : first,
                continuing(window, b, c, base)});
  if (choose(uniforms(b)[0], cursor) == 0) return found(start, cursor, reversed);
  cursor.tail_content.add(-window.scores.emission(b - 1, c));
  cursor.at.boundary = b - 1;
}

double DrawTracer::entering(const DrawWindow& window, std::int64_t b, int c, const CompensatedSum& content,
                            double base) const {
  const std::int64_t start = b - model_->max_duration - 1;
  const LogMessage before = window.rows->start(start, c);
  return content.plus(before.level - base) + (before.value + durations_.into_tail(start, c));
}

double DrawTracer::continuing(const DrawWindow& window, std::int64_t b, int c, double base) const {
  if (b - 1 <= model_->max_duration) return kNegativeInfinity;
  const LogMessage open = window.rows->tail(b - 1, c);
  return (window.scores.emission(b - 1, c) + (open.level - base)) + (open.value + model_->log_tail[c]);
}

void DrawTracer::choose_source(const DrawWindow& window, DrawCursor& cursor) {
  const std::int64_t s = cursor.at.boundary;
  logs_.clear();
  for (int from = 0; from < model_->num_labels; ++from)
    logs_.push_back(window.rows->alpha(s, from).value + model_->transition_at(from, cursor.at.label));
  cursor.at.label = static_cast<int>(choose(uniforms(s)[1], cursor));
  cursor.at.phase = Phase::kFindStart;
  cursor.at.segment_end = s;
}

void DrawTracer::found(std::int64_t start, DrawCursor& cursor, std::vector<Segment>& reversed) {
  reversed.push_back({start, cursor.at.segment_end, cursor.at.label});
  cursor.at.phase = start == 0 ? Phase::kDone : Phase::kFindSource;
  cursor.at.boundary = start;
}

// Samples index i with probability exp(logs_[i]) / sum.
std::size_t DrawTracer::choose(double uniform, DrawCursor& cursor) {
  const auto best = std::max_element(logs_.begin(), logs_.end());
  if (best == logs_.end() || *best == kNegativeInfinity)
    throw std::logic_error("a draw has no way on: the forward messages contradict each other");
  const double top = *best;
  double sum = 0;
  for (double& log : logs_) {
    log = std::exp(log - top);
    sum += log;
  }
  const double target = uniform * sum;
  double reached = 0;
  std::size_t chosen = 0;
  for (std::size_t i = 0; i < logs_.size() && reached <= target; ++i) {
    reached += logs_[i];
    if (logs_[i] > 0) chosen = i;
  }
  cursor.log_likelihood.add(std::log(logs_[chosen] / sum));
  return chosen;
}

WindowNeeds Samples::needs(const Engine& engine, const ScoreSource& source, const PieceChain&) const {
  return draw_needs(engine, source);
}

std::size_t Samples::kept_bytes() const { return number_ * kDrawMemory; }

void Samples::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                  const BlockSink&) const {
  const DrawRequest request{number_, sequence_key(seed_, context.identity.sequence),
                            context.identity.location.first_bin};
  DrawResult& found = result.put(
      draw_segmentations(context.engine, context.source, plan, context.chain, request, context.progress));
  result.feasible = found.feasible;
}

void Samples::record(const PieceRecord& piece, SequenceReport& report) const {
  const auto& found = piece.result.get<DrawResult>();
  SequenceStats& stats = report.stats;
  accumulate(stats.log_partition, found.log_partition);
  if (!stats.log_likelihood) stats.log_likelihood.emplace(found.draws.size());
  for (std::size_t i = 0; i < found.draws.size(); ++i) {
    (*stats.log_likelihood)[i] += found.draws[i].log_likelihood;
    accumulate(stats.segments, found.draws[i].segments.size());
  }
  report.add_totals(found, 1, piece);
}

void Samples::record_infeasible(SequenceReport& report) const { report.add_no_log_partition(); }

}  // namespace semicrf
