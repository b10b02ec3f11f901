#include "pipeline/viterbi_decoder.h"

#include <algorithm>
#include <future>
#include <optional>
#include <span>
#include <vector>

#include "pipeline/checked_read.h"
#include "pipeline/path_score.h"
#include "pipeline/stage_times.h"

namespace semicrf {
namespace {

// The smallest duration that some label allows, 1 when none does.
std::int64_t shortest_duration(const ChainModel& model) {
  for (int k = 1; k <= model.max_duration; ++k)
    for (int c = 0; c < model.num_labels; ++c)
      if (model.duration_score(k, c) > kNegativeInfinity) return k;
  return 1;
}

class Decoder {
 public:
  Decoder(Engine& engine, ScoreSource& source, const WindowPlan& plan, const ProgressCallback& progress,
          int threads)
      : engine_(engine),
        source_(source),
        plan_(plan),
        progress_(progress),
        threads_(threads),
        score_(engine.model(), plan.length),
        unscored_end_(plan.length) {}

  ViterbiResult run() {
    if (const std::optional<ScoreWindow> whole = source_.in_place()) prefetch_ = engine_.prefetch(*whole);
    times_.end("prefetch begun");
    sweep_forward();
    times_.end("first sweep");
    if (result_.feasible) trace_back();
    times_.end("path");
    return std::move(result_);
  }

 private:
  struct Computed {
    ScoreWindow scores;
    ViterbiWindow window;
  };
  Computed compute(std::int64_t n, bool keep_messages) {
    const PositionRange read = plan_.read_range(n);
    Computed computed;
    computed.scores = read_checked(source_, prefetch_.get(), read, buffers_);
    const BoundaryState* left = n == 0 ? nullptr : &states_[static_cast<std::size_t>(n)];
    computed.window = engine_.viterbi(computed.scores, plan_.range(n), left, keep_messages);
    return computed;
  }

  // Whether an engine has a device of its own to work on, and scores lie where two can read them.
  bool works_beside() const { return engine_.device_memory() && source_.in_place(); }

  // Leaves the true forward state at the left edge of every window, and the messages of the last one.
  void sweep_forward() {
    const std::int64_t last = plan_.count() - 1;
    states_.resize(static_cast<std::size_t>(last) + 1);
    for (std::int64_t n = 0; n <= last; ++n) {
      Computed computed = compute(n, n == last);
      ViterbiWindow& window = computed.window;
      scores_ = computed.scores;
      for (const ChunkReport& chunk : window.chunks) {
        result_.fallbacks += chunk.fallbacks;
        result_.repaired_chunks += chunk.repaired ? 1 : 0;
      }
      if (progress_) progress_(plan_.range(n).size());
      if (n < last) {
        states_[static_cast<std::size_t>(n) + 1] = std::move(window.right);
      } else {
        messages_ = std::move(window.messages);
        result_.feasible = best_final_score(window.right, &cursor_.label) > kNegativeInfinity;
      }
    }
  }

  void trace_back() {
    cursor_.phase = TraceCursor::Phase::kFindStart;
    cursor_.boundary = cursor_.segment_end = plan_.length;
    std::vector<Segment> reversed;
    const std::int64_t last = plan_.count() - 1;
    for (std::int64_t n = last; n >= 0; --n) {
      if (n != last) take_next();
      bool more = true;
      while (more) {
        reversed.clear();
        more = messages_->trace(cursor_, reversed);
        if (!more) begin_next(n);
        score_stretch(plan_.range(n), reversed);
        result_.segments.append_reversed(reversed);
      }
      score_open_segment(plan_.range(n));
      if (progress_) progress_(plan_.range(n).size());
    }
    result_.score = score_.finish();
  }

  // The path of window n is known: the window left of it is computed while that one's share of the score is
  // added up, where an engine has a device for it and scores need no second memory.
  void begin_next(std::int64_t n) {
    messages_.reset();
    if (n == 0) return;
    next_ = std::async(works_beside() ? std::launch::async : std::launch::deferred,
                       [this, n] { return compute(n - 1, true); });
  }
  void take_next() {
    Computed next = next_.get();
    scores_ = next.scores;
    messages_ = std::move(next.window.messages);
  }

  // Adds up what the positions of this window contribute to the path's score. Segments may reach beyond its
  // left edge.
  void score_stretch(PositionRange range, const std::vector<Segment>& reversed) {
    if (unscored_ && score_whole(range, *unscored_)) unscored_.reset();
    std::span<const Segment> rest(reversed);
    // What reaches beyond the right edge was open there, and its part there is in the score.
    if (!rest.empty() && rest.front().end > unscored_end_ && rest.front().begin >= range.begin) {
      score_whole(range, rest.front());
      rest = rest.subspan(1);
    }
    if (rest.empty()) return;
    const bool open = rest.back().begin < range.begin;  // only the window's last one
    const std::size_t whole = rest.size() - (open ? 1 : 0);
    score_.add_segments(scores_, rest.first(whole), threads_);
    if (whole > 0) unscored_end_ = rest[whole - 1].begin;
    if (open && !score_whole(range, rest.back())) unscored_ = rest.back();
  }
  // The part inside the window of the segment in the cursor, whose start is not found yet.
  void score_open_segment(PositionRange range) {
    if (unscored_end_ > range.begin)
      score_segment(range, {range.begin - 1, cursor_.segment_end, cursor_.label});
  }

  bool score_whole(PositionRange range, const Segment& segment) {
    if (!score_segment(range, segment)) return false;
    score_.add_segment(segment);
    return true;
  }

  // The part of a segment inside the window; true when that reaches the segment's start.
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
  const ProgressCallback& progress_;
  int threads_;
  ScoreBuffers buffers_;
  ScoreWindow scores_;                 // of the window computed last
  std::vector<BoundaryState> states_;  // true forward state at the left edge of window n; [0] is unused
  std::unique_ptr<ScorePrefetch> prefetch_;
  std::unique_ptr<ViterbiMessages> messages_;  // of the window that is traced
  std::future<Computed> next_;                 // the window left of it
  TraceCursor cursor_;
  PathScore score_;
  StageTimes times_{"Viterbi"};
  std::optional<Segment> unscored_;  // found, but not fully in the score: it begins in a window to the left
  std::int64_t unscored_end_;        // positions from here on are in the score
  ViterbiResult result_;
};

}  // namespace

WindowNeeds viterbi_needs(const Engine& engine, const ScoreSource& source) {
  WindowNeeds needs;
  needs.engine_bytes = [&engine](std::int64_t positions) { return engine.viterbi_bytes(positions, true); };
  needs.score_bytes = source.bytes_per_position();
  take_device_needs(engine, source, needs,
                    [&engine](const WindowShape& shape) { return engine.viterbi_device_bytes(shape); });
  // The segments of a window before they are packed, in a vector that may just have grown.
  needs.output_bytes = 2 * sizeof(Segment) / static_cast<std::size_t>(shortest_duration(engine.model()));
  return needs;
}

ViterbiResult decode_viterbi(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                             const ProgressCallback& progress, int threads) {
  return Decoder(engine, source, plan, progress, threads).run();
}

}  // namespace semicrf
