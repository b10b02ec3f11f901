#include "analyses/viterbi/viterbi_decoder.h"

#include <algorithm>
#include <future>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyses/sequence_report.h"
#include "analyses/viterbi/known_paths.h"
#include "core/chain_model.h"
#include "core/threads/parallel.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "log/stage_times.h"
#include "sites/site_engine.h"
#include "windows/path_score.h"

namespace semicrf {

namespace {

class Decoder {
 public:
  Decoder(Engine& engine, ScoreSource& source, const WindowPlan& plan, const ProgressCallback& progress,
          int threads, PathScoring scoring, const EdgeWindows* edges)
      : engine_(engine),
        source_(source),
        plan_(plan),
        threads_(threads),
        rescores_(scoring == PathScoring::kRescore && !is_site_engine(engine)),
        edge_(joining_edge(engine.model().max_duration)),
        joins_(plan.inner_count() > 1 &&
               (engine.own_memory() == nullptr
                    ? plan.joined
                    : engine.own_memory()->joins_windows(
                          {plan.length, plan.window, plan.window + plan.left_halo, source.score_bytes()}))),
        loop_(engine, source, plan, WindowLoop::Scores::kAny, progress, edges, Semiring::kMax),
        score_(engine.model(), plan.length, edges != nullptr ? edges->roles : nullptr),
        unscored_end_(plan.length) {}

  ViterbiResult run() {
    sweep_forward();
    if (result_.feasible) trace_back();
    times_.end("paths joined");
    return std::move(result_);
  }

 private:
  struct Computed {
    ScoreWindow scores;
    ViterbiWindow window;
  };
  Computed compute(std::int64_t n, const ScoreWindow& scores, bool keep_messages) {
    return {scores, loop_.engine(n).viterbi(scores, plan_.range(n), loop_.left(n), keep_messages)};
  }
  // Whether the path through window n is followed before it is known in which state the true one enters it.
  bool joins(std::int64_t n) const { return joins_ && n < loop_.last() && loop_.roles(n) == nullptr; }
  // Whether the messages of window n are kept although it is not the last one: it is the only one between the
  // windows at the cut edges.
  bool keeps(std::int64_t n) const {
    return n < loop_.last() && n == loop_.first_inner() && n == loop_.last_inner();
  }
  std::size_t joined_index(std::int64_t n) const { return n - loop_.first_inner(); }
  // The scores, in the labels of the model, that the window's part of the path is scored with.
  ScoreWindow scores_of_path(std::int64_t n, const ScoreWindow& scores) {
    return rescores_ && loop_.roles(n) != nullptr ? loop_.read_plain(n) : scores;
  }

  // Whether an engine has a device of its own to work on, and scores lie where two can read them.
  bool works_beside() const { return engine_.own_memory() && source_.in_place(); }

  // Computes all windows and leaves the messages of the last one; where windows are joined, also paths
  // through all but that one.
  void sweep_forward() {
    known_cells_.resize(plan_.count());
    loop_.left_to_right(WindowLoop::States::kAll, [&](std::int64_t n, const ScoreWindow& scores) {
      const bool last = n == loop_.last();
      times_.end("scores");
      ViterbiWindow window = compute(n, scores, last || joins(n) || keeps(n)).window;
      times_.end("sweeps");
      scores_ = scores;
      result_.add(window.chunks);
      if (joins(n)) follow_ahead(n, window);
      times_.end("paths of windows");
      if (keeps(n)) kept_ = {scores, std::move(window)};
      if (last) {
        messages_ = std::move(window.messages);
        const double best = best_final_score(window.right, &cursor_.label);
        result_.feasible = best > kNegativeInfinity;
        if (result_.feasible && is_site_engine(engine_)) result_.score = best;
      }
      if (n == 0 && loop_.roles(0) != nullptr) first_right_ = window.right;
      return keeps(n) ? kept_->window.right : std::move(window.right);
    });
  }

  // Follows a path through a window that was just computed, as if the true path came from the best label at
  // its right edge.
  void follow_ahead(std::int64_t n, ViterbiWindow& window) {
    TraceCursor cursor;
    cursor.phase = TraceCursor::Phase::kFindStart;
    cursor.boundary = cursor.segment_end = plan_.range(n).end;
    best_final_score(window.right, &cursor.label);
    known_.begin(cursor);
    constexpr std::size_t kPart = 1 << 20;  // segments that are kept and scored together
    std::vector<Segment> reversed;
    bool more = true;
    while (more) {
      more = window.messages->trace(cursor, reversed);
      if (more && reversed.size() < kPart) continue;
      known_.append(reversed);
      score_ahead(n, std::exchange(reversed, {}));
    }
    known_.end(cursor);
    edges_.push_back(window.messages->right_edge(edge_));
    window.messages.reset();
  }
  // Whether the path through window n is known from where the true one enters it.
  bool joins_known_path(std::int64_t n) {
    if (!joins(n) || joined_index(n) >= edges_.size()) return false;
    TraceCursor cursor = cursor_;
    std::vector<Segment> reversed;
    ViterbiMessages* const edge = edges_[joined_index(n)].get();
    while (edge != nullptr && edge->trace(cursor, reversed)) {
    }
    return known_.join(n - loop_.first_inner(), cursor_, reversed);
  }

  // Adds up the score of a known part of the path while the kernels of later windows run; not at the right
  // edge, where it may not be the true path.
  void score_ahead(std::int64_t n, std::vector<Segment> reversed) {
    if (!rescores_ || !works_beside()) return;
    finish_scoring();
    const PositionRange range = plan_.range(n);
    scoring_ = do_beside([this, n, range, segments = std::move(reversed), scores = scores_] {
      const std::vector<PathScore::Cell> cells =
          score_.whole_cells(scores, segments, range.begin, range.end - edge_, threads_);
      std::vector<PathScore::Cell>& all = known_cells_[n];
      all.insert(all.end(), cells.begin(), cells.end());
    });
  }
  void finish_scoring() {
    if (scoring_.valid()) scoring_.get();
  }

  void trace_back() {
    finish_scoring();
    cursor_.phase = TraceCursor::Phase::kFindStart;
    cursor_.boundary = cursor_.segment_end = plan_.length;
    loop_.right_to_left([&](std::int64_t n) { trace_window(n); });
    if (rescores_) result_.score = score_.finish();
  }

  void trace_window(std::int64_t n) {
    const bool known = n != loop_.last() && known_next_;
    if (known) {
      if (rescores_) scores_ = loop_.read(n);
    } else if (n != loop_.last()) {
      take_next();
    }
    const EdgeRoles* const roles = loop_.roles(n);
    if (roles != nullptr && n != loop_.last()) cursor_ = with_roles(cursor_, *roles, first_right_);
    scores_ = scores_of_path(n, scores_);
    std::span<const PathScore::Cell> known_cells;
    if (known) known_cells = known_cells_[n];
    std::vector<Segment> reversed;
    bool more = true;
    while (more) {
      reversed.clear();
      more = known ? known_.take(cursor_, reversed) : messages_->trace(cursor_, reversed);
      if (roles != nullptr) {
        for (Segment& segment : reversed) segment.label = roles->label_of(segment.label);
        if (!more) cursor_.label = roles->label_of(cursor_.label);
      }
      if (!more) begin_next(n);
      if (rescores_) score_stretch(plan_.range(n), reversed, known_cells);
      result_.segments.append_reversed(reversed);
    }
    if (rescores_) score_open_segment(plan_.range(n));
  }

  // Called when the path of window n is known: the window left of it, unless its path is known already, is
  // computed while the score of window n is added up, where an engine has a device for it and scores need no
  // second memory.
  void begin_next(std::int64_t n) {
    messages_.reset();
    if (n == 0) return;
    known_next_ = joins_known_path(n - 1);
    if (known_next_) return;
    if (keeps(n - 1)) {
      std::promise<Computed> kept;
      kept.set_value(*std::exchange(kept_, std::nullopt));
      next_ = kept.get_future();
      return;
    }
    const auto left = [this, n] { return compute(n - 1, loop_.read(n - 1), true); };
    next_ = works_beside() ? do_beside(left) : std::async(std::launch::deferred, left);
  }
  void take_next() {
    Computed next = next_.get();
    scores_ = next.scores;
    messages_ = std::move(next.window.messages);
  }

  // Adds what the positions of this window contribute to the path's score. Segments may reach beyond its left
  // edge.
  void score_stretch(PositionRange range, const std::vector<Segment>& reversed,
                     std::span<const PathScore::Cell> known) {
    if (unscored_ && score_whole(range, *unscored_)) unscored_.reset();
    std::span<const Segment> rest(reversed);
    // A segment that reaches beyond the right edge was open there, and its part there is in the score.
    if (!rest.empty() && rest.front().end > unscored_end_ && rest.front().begin >= range.begin) {
      score_whole(range, rest.front());
      rest = rest.subspan(1);
    }
    if (rest.empty()) return;
    const bool open = rest.back().begin < range.begin;  // only the window's last one
    const std::size_t whole = rest.size() - (open ? 1 : 0);
    score_.add_segments(scores_, rest.first(whole), threads_, known);
    if (whole > 0) unscored_end_ = rest[whole - 1].begin;
    if (open && !score_whole(range, rest.back())) unscored_ = rest.back();
  }
  // Scores the part inside the window of the segment in the cursor, whose start is not found yet.
  void score_open_segment(PositionRange range) {
    if (unscored_end_ > range.begin)
      score_segment(range, {range.begin - 1, cursor_.segment_end, cursor_.label});
  }

  bool score_whole(PositionRange range, const Segment& segment) {
    if (!score_segment(range, segment)) return false;
    score_.add_segment(segment);
    return true;
  }

  // Scores the part of a segment inside the window; true when that reaches the segment's start.
  bool score_segment(PositionRange range, const Segment& segment) {
    const std::int64_t begin = std::max(segment.begin, range.begin);
    if (unscored_end_ > range.begin) {
      if (segment.end == unscored_end_) score_.add_end(scores_, segment.end - 1, segment.label);
      score_.add_content(scores_, begin, unscored_end_, segment.label);
      unscored_end_ = begin;
    }
    if (segment.begin < range.begin) return false;
    score_.add_start(scores_, segment.begin, segment.label);
    return true;
  }

  Engine& engine_;
  ScoreSource& source_;
  const WindowPlan& plan_;
  int threads_;
  const bool rescores_;
  const std::int64_t edge_;  // positions
  const bool joins_;         // see DeviceMemory::joins_windows, WindowPlan::joined
  KnownPaths known_;         // paths of the windows that are joined
  std::vector<std::unique_ptr<ViterbiMessages>> edges_;  // messages at the right edges of these windows
  WindowLoop loop_;
  ScoreWindow scores_;                         // scores of the window computed last
  std::unique_ptr<ViterbiMessages> messages_;  // messages of the window that is traced
  bool known_next_ = false;                    // whether the path through the window left of it is known
  std::future<Computed> next_;                 // the window left of it, while it is computed
  std::optional<Computed> kept_;               // see keeps()
  BoundaryState first_right_;  // right state of the first window, in its labels, where it is at a cut edge
  TraceCursor cursor_;
  PathScore score_;
  std::vector<std::vector<PathScore::Cell>> known_cells_;  // scores of known paths, per window, right to left
  std::future<void> scoring_;                              // the task that adds to known_cells_
  StageTimes times_{"Viterbi"};
  std::optional<Segment> unscored_;  // segment that is found, but not fully in the score: it begins in a
                                     // window to the left
  std::int64_t unscored_end_;        // positions from here on are in the score
  ViterbiResult result_;
};

}  // namespace

WindowNeeds viterbi_needs(const Engine& engine, const ScoreSource& source) {
  // Bytes of segments before they are packed, in a vector that may just have grown: the segments of a window
  // or, from a device, of a part of its path.
  constexpr std::size_t kUnpacked = 2 * sizeof(Segment);
  constexpr std::size_t kPart = std::size_t{1} << 20;
  const std::size_t part = engine.own_memory() ? kUnpacked * kPart : 0;
  WindowNeeds needs;
  needs.engine_bytes = [&engine, part](std::int64_t positions) {
    return engine.viterbi_bytes(positions, true) +
           std::min(part, kUnpacked * static_cast<std::size_t>(positions));
  };
  needs.usual_engine_bytes = [&engine](std::int64_t positions) {
    return engine.usual_viterbi_bytes(positions);
  };
  needs.usual_output_bytes = 1;  // segments are long
  needs.score_bytes = source.bytes_per_position() * (WindowReader::reads_ahead(engine, source) ? 2 : 1);
  take_device_needs(engine, source, needs, [](const DeviceMemory& device, const WindowShape& shape) {
    return device.viterbi_device_bytes(shape);
  });
  if (!engine.own_memory()) {
    needs.edge_bytes = engine.right_edge_bytes();
    needs.output_bytes = kUnpacked / static_cast<std::size_t>(std::max(1, shortest_duration(engine.model())));
  }
  return needs;
}

ViterbiResult decode_viterbi(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                             const ProgressCallback& progress, int threads, PathScoring scoring,
                             const EdgeWindows* edges) {
  return Decoder(engine, source, plan, progress, threads, scoring, edges).run();
}

ViterbiResult known_path(const ChainModel& model, const ScoreWindow& scores, const SequencePath& path,
                         PathScoring scoring) {
  ViterbiResult result;
  result.add(path.chunks);
  result.feasible = path.feasible;
  if (!path.feasible) return result;
  if (scoring == PathScoring::kRescore) {
    PathScore score(model, scores.length);
    score.add_segments(scores, path.reversed, 1);
    result.score = score.finish();
  }
  result.segments.append_reversed(path.reversed);
  return result;
}

WindowNeeds ViterbiDecoding::needs(const Engine& engine, const ScoreSource& source, const PieceChain&) const {
  return viterbi_needs(engine, source);
}

std::size_t ViterbiDecoding::workspace_bytes(const Engine& engine, std::int64_t positions) const {
  return engine.usual_viterbi_bytes(positions);
}

void ViterbiDecoding::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                          const BlockSink&) const {
  ViterbiResult& best = result.put(decode_viterbi(context.engine, context.source, plan, context.progress,
                                                  context.threads, scoring_, context.chain.edges));
  result.feasible = best.feasible;
  if (!best.feasible) return;
  best.segments = context.without_roles(std::move(best.segments));
  result.set_path(best.segments);
}

void ViterbiDecoding::run_together(const PiecesContext& context, std::span<PieceResult> results) const {
  const std::vector<SequencePath> paths = context.engine.batches().viterbi_of(context.pieces);
  parallel_for(context.threads, results.size(), [&](std::size_t i, int) {
    const ViterbiResult& best =
        results[i].put(known_path(context.engine.model(), context.pieces[i], paths[i], scoring_));
    results[i].feasible = best.feasible;
    if (best.feasible) results[i].set_path(best.segments);
  });
}

void ViterbiDecoding::record(const PieceRecord& piece, SequenceReport& report) const {
  const auto& best = piece.result.get<ViterbiResult>();
  if (best.score) accumulate(report.stats.viterbi_score, *best.score);
  report.add_totals(best, 1, piece);
  const ChainModel& model = piece.model;
  report.segments += best.segments.size();
  if (model.max_duration == 1) return;
  SegmentList::Reader reader(best.segments);
  for (Segment segment; reader.next(segment);)
    if (segment.end - segment.begin == model.max_duration &&
        model.duration_score(model.max_duration + 1, segment.label) == kNegativeInfinity)
      ++report.segments_at_cap;
}

void ViterbiDecoding::record_infeasible(SequenceReport& report) const {
  accumulate(report.stats.viterbi_score, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace semicrf
