#include "analyses/draws/segment_sampler.h"

#include <stdexcept>

#include "analyses/draws/draw_tracer.h"
#include "analyses/draws/forward_rows.h"
#include "engine/device_memory.h"
#include "inputs/rows/random_stream.h"
#include "windows/memory_budget.h"

namespace semicrf {
namespace {

constexpr std::size_t kStretch = 4096;  // segments that are found before they are packed

class Sampler {
 public:
  Sampler(Engine& engine, ScoreSource& source, const WindowPlan& plan, const DrawRequest& request,
          const ProgressCallback& progress)
      : engine_(engine),
        plan_(plan),
        loop_(engine, source, plan, WindowLoop::Scores::kNoFeatures, progress),
        reach_(plan.count() > 1 ? engine.model().max_duration : 0),
        rows_(engine.model(), reach_) {
    if (plan.count() > 1 && plan.left_halo <= reach_)
      throw std::logic_error("the windows of a draw see too little to their left");
    for (int i = 0; i < request.draws; ++i) {
      const RandomStream random(request.key, kDrawPurpose + static_cast<std::uint64_t>(i));
      tracers_.emplace_back(engine.model(), random, request.origin);
      result_.draws.push_back({0, SegmentList(kSpoolMemory / static_cast<std::size_t>(request.draws))});
    }
    cursors_.resize(tracers_.size());
  }

  DrawResult run() {
    if (!sweep_forward()) return {};
    trace_back();
    return std::move(result_);
  }

 private:
  ForwardWindow compute(std::int64_t n, const ScoreWindow& scores) {
    ForwardWindow window =
        engine_.forward(scores, plan_.range(n), loop_.left(n), rows_.prepare(plan_.range(n)));
    rows_.finish(window, n == 0 ? nullptr : &edges_[n]);
    return window;
  }

  // Leaves the last messages before the left edge of every window, and the messages of the last one. False
  // when no segmentation is possible.
  bool sweep_forward() {
    edges_.resize(plan_.count());
    return loop_.left_to_right(WindowLoop::States::kAll, [&](std::int64_t n, const ScoreWindow& scores) {
      ForwardWindow window = compute(n, scores);
      result_.add(window.chunks);
      if (n < loop_.last()) {
        edges_[static_cast<std::size_t>(n) + 1] = rows_.edge();
      } else {
        scores_ = scores;
        begin_draws(window.right);
      }
      return std::move(window.right);
    }) && result_.feasible;
  }

  void begin_draws(const BoundaryState& state_at_end) {
    result_.log_partition = log_sum(state_at_end);
    result_.feasible = result_.log_partition > kNegativeInfinity;
    if (!result_.feasible) return;
    for (std::size_t i = 0; i < tracers_.size(); ++i)
      tracers_[i].choose_last_label(state_at_end, cursors_[i]);
  }

  void trace_back() {
    loop_.right_to_left([&](std::int64_t n) {
      if (n != loop_.last()) {
        scores_ = loop_.read(n);
        compute(n, scores_);
      }
      const DrawWindow window{plan_.range(n), &rows_, CentredScores(engine_.model(), scores_)};
      for (std::size_t i = 0; i < tracers_.size(); ++i) trace(window, i);
    });
    for (std::size_t i = 0; i < tracers_.size(); ++i)
      result_.draws[i].log_likelihood = cursors_[i].log_likelihood.value();
  }

  void trace(const DrawWindow& window, std::size_t draw) {
    bool more = true;
    while (more) {
      reversed_.clear();
      more = tracers_[draw].trace(window, cursors_[draw], reversed_, kStretch);
      result_.draws[draw].segments.append_reversed(reversed_);
    }
  }

  Engine& engine_;
  const WindowPlan& plan_;
  WindowLoop loop_;
  std::int64_t reach_;
  ForwardRows rows_;
  ScoreWindow scores_;               // scores of the window that is traced
  std::vector<ForwardEdge> edges_;   // the messages before window n; [0] is unused
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
    const auto row = sizeof(double) * (1 + static_cast<std::size_t>(model.num_labels));
    return engine.posterior_bytes(positions) + 2 * row * static_cast<std::size_t>(model.max_duration);
  };
  needs.usual_engine_bytes = {};
  needs.output_bytes = ForwardRows::bytes_per_position(engine.model());
  return needs;
}

DrawResult draw_segmentations(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                              const DrawRequest& request, const ProgressCallback& progress) {
  return Sampler(engine, source, plan, request, progress).run();
}

}  // namespace semicrf
