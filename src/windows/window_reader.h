// Reading the windows of a sequence for an engine that may have a device of its own.
#pragma once

#include <array>
#include <future>
#include <memory>
#include <optional>

#include "core/threads/parallel.h"
#include "engine/device_memory.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/window_plan.h"

namespace semicrf {

// Scores that lie in memory, or features, are on their way to the device from the beginning
// (Engine::prefetch); they are checked where they arrived, and where that finds something, or nothing is
// known, the source checks them itself and says what is wrong, or replaces what is missing. Scores or
// features that are made when they are read can be read one window ahead of their use, in a thread of its
// own, while the device computes.
class WindowReader {
 public:
  // Whether engines that project get features in place of scores; not for forward(), whose windows are not
  // prefetched or read ahead either.
  enum class Scores { kAny, kNoFeatures };

  WindowReader(Engine& engine, ScoreSource& source, const WindowPlan& plan, Scores scores)
      : engine_(engine),
        source_(source),
        projected_(source),
        plan_(plan),
        for_forward_(scores == Scores::kNoFeatures),
        reads_ahead_(!for_forward_ && reads_ahead(engine, source)) {}

  // Whether two windows are kept.
  static bool reads_ahead(const Engine& engine, const ScoreSource& source) {
    return engine.own_memory() != nullptr && source.bytes_per_position() > 0;
  }

  // Once, before the first window.
  void begin() {
    if (engine_.own_memory() == nullptr || for_forward_) return;
    if (const std::optional<ScoreWindow> whole = source_.in_place())
      prefetch_ = engine_.own_memory()->prefetch(*whole);
  }
  // Window n with its halos, for viterbi() or posteriors() of the engine: features where heads make the
  // scores and the engine projects, else scores. Valid until the next but one is read, or the next, where
  // none is read ahead.
  ScoreWindow read(std::int64_t n) {
    if (ahead_.valid()) {
      const ScoreWindow scores = ahead_.get();
      if (ahead_of_ == n) return scores;
    }
    return read_now(n);
  }
  // Window n will be read next.
  void read_ahead(std::int64_t n) {
    if (!reads_ahead_ || prefetch_) return;  // what is prefetched lies there, and is asked for by one thread
    ahead_of_ = n;
    ahead_ = do_beside([this, n] { return read_now(n); });
  }

 private:
  ScoreWindow read_now(std::int64_t n) {
    const PositionRange range = plan_.read_range(n);
    if (prefetch_) {
      if (prefetch_->sound(range.end)) {
        source_.assume_checked(range.begin, range.end);
      } else {
        prefetch_.reset();  // the source says what is wrong, or replaces it
      }
    }
    if (reads_ahead_) turn_ = 1 - turn_;
    ScoreBuffers& buffers = buffers_[turn_];
    return engine_.projects() && !for_forward_ ? source_.read(range.begin, range.end, buffers)
                                               : projected_.read(range.begin, range.end, buffers);
  }

  Engine& engine_;
  ScoreSource& source_;
  HostProjection projected_;  // for engines that do not project, and for forward()
  const WindowPlan& plan_;
  const bool for_forward_;
  const bool reads_ahead_;
  std::unique_ptr<ScorePrefetch> prefetch_;
  std::array<ScoreBuffers, 2> buffers_;
  std::size_t turn_ = 0;
  std::int64_t ahead_of_ = 0;
  std::future<ScoreWindow> ahead_;  // last, as it uses the others
};

}  // namespace semicrf
