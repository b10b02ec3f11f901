#include "analyses/posteriors/log_partition.h"

#include <utility>

namespace semicrf {

double log_partition(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                     const ProgressCallback& progress) {
  WindowLoop loop(engine, source, plan, WindowLoop::Scores::kNoFeatures, progress);
  double result = kNegativeInfinity;
  const bool possible =
      loop.left_to_right(WindowLoop::States::kLatest, [&](std::int64_t n, const ScoreWindow& scores) {
        ForwardWindow window = engine.forward(scores, plan.range(n), loop.left(n), {});
        if (n == loop.last()) result = log_sum(window.right);
        return std::move(window.right);
      });
  return possible ? result : kNegativeInfinity;
}

}  // namespace semicrf
