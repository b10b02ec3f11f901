#include "pipeline/analyses/draws/segment_shares.h"

#include <algorithm>
#include <vector>

#include "core/compensated_sum.h"
#include "engine/device_memory.h"
#include "pipeline/analyses/draws/forward_rows.h"
#include "pipeline/windows/centred_scores.h"

namespace semicrf {
namespace {

class ShareSweep {
 public:
  ShareSweep(Engine& engine, const SegmentList& path)
      : model_(engine.model()), rows_(model_, 0), reader_(path), open_(reader_.next(segment_)) {}

  ForwardArrays prepare(PositionRange range) { return rows_.prepare(range); }

  // The segments, or their parts, in the window that the engine has just filled.
  void walk(PositionRange range, const ScoreWindow& scores, const ForwardWindow& window,
            SpooledNumbers& logs) {
    rows_.finish(window, nullptr);
    const CentredScores centred(model_, scores);
    while (open_ && segment_.begin < range.end) {
      if (segment_.begin >= range.begin) {
        before_ = rows_.start(segment_.begin, segment_.label);
        content_ = {};
      }
      const std::int64_t stop = std::min(segment_.end, range.end);
      for (std::int64_t t = std::max(segment_.begin, range.begin); t < stop; ++t)
        content_.add(centred.emission(t, segment_.label));
      if (segment_.end > range.end) return;
      logs.append(log_share(centred));
      open_ = reader_.next(segment_);
    }
  }

 private:
  double log_share(const CentredScores& centred) const {
    const LogMessage all = rows_.alpha(segment_.end, segment_.label);
    const double chain = model_.duration_score(segment_.end - segment_.begin, segment_.label) +
                         centred.end(segment_.end - 1, segment_.label);
    return std::min(0.0, content_.plus(before_.level - all.level) + (before_.value + chain - all.value));
  }

  const ChainModel& model_;
  ForwardRows rows_;
  SegmentList::Reader reader_;
  Segment segment_;
  bool open_;               // there is a segment that has not ended yet
  LogMessage before_;       // everything before it
  CompensatedSum content_;  // of its positions so far
};

}  // namespace

WindowNeeds share_needs(const Engine& engine, const ScoreSource& source) {
  WindowNeeds needs;
  needs.engine_bytes = [&engine](std::int64_t positions) { return engine.posterior_bytes(positions); };
  needs.score_bytes = source.bytes_per_position();
  take_device_needs(engine, source, needs, [](const DeviceMemory& device, const WindowShape& shape) {
    return device.posterior_device_bytes(shape, false);
  });
  needs.output_bytes = ForwardRows::bytes_per_position(engine.model());
  needs.enough_positions = enough_positions(engine.grid());
  return needs;
}

SegmentShares segment_shares(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                             const SegmentList& path, const ProgressCallback& progress) {
  SegmentShares result;
  ShareSweep sweep(engine, path);
  ScoreBuffers buffers;
  BoundaryState left;
  for (std::int64_t n = 0; n < plan.count(); ++n) {
    const PositionRange read = plan.read_range(n);
    const ScoreWindow scores = source.read(read.begin, read.end, buffers);
    const PositionRange range = plan.range(n);
    ForwardWindow window = engine.forward(scores, range, n == 0 ? nullptr : &left, sweep.prepare(range));
    sweep.walk(range, scores, window, result.logs);
    for (const ChunkReport& chunk : window.chunks) {
      result.fallbacks += chunk.fallbacks;
      result.repaired_chunks += chunk.repaired ? 1 : 0;
    }
    left = std::move(window.right);
    if (progress) progress(range.size());
  }
  return result;
}

}  // namespace semicrf
