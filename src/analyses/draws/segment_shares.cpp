#include "analyses/draws/segment_shares.h"

#include <algorithm>

#include "analyses/forward/forward_pass.h"
#include "analyses/sequence_report.h"
#include "core/chain_model.h"
#include "core/compensated_sum.h"
#include "engine/device_memory.h"
#include "model/scores/edge_roles.h"

namespace semicrf {

namespace {

class ShareSweep {
 public:
  ShareSweep(const ForwardPass& pass, const PieceDurations& durations, const SegmentList& path)
      : pass_(pass), durations_(durations), reader_(path) {
    open_ = reader_.next(segment_);
  }

  // Adds up the segments, or their parts, in the current window.
  void walk(SpooledNumbers& logs) {
    const PositionRange range = pass_.range();
    const LabelScores scores = pass_.scores();
    while (open_ && segment_.begin < range.end) {
      if (segment_.begin >= range.begin) {
        before_ = pass_.rows().start(segment_.begin, segment_.label);
        content_ = CompensatedSum();
      }
      const std::int64_t stop = std::min(segment_.end, range.end);
      for (std::int64_t t = std::max(segment_.begin, range.begin); t < stop; ++t)
        content_.add(scores.emission(t, segment_.label));
      if (segment_.end > range.end) return;
      logs.append(log_share(scores));
      open_ = reader_.next(segment_);
    }
  }

 private:
  double log_share(const LabelScores& scores) const {
    const LogMessage all = pass_.rows().alpha(segment_.end, segment_.label);
    const double chain = durations_.score(segment_) + scores.end(segment_.end - 1, segment_.label);
    // The model does not allow this segment; posterior decoding may give such ones.
    if (std::min({before_.value, chain, all.value}) == kNegativeInfinity) return kNegativeInfinity;
    return std::min(0.0, content_.plus(before_.level - all.level) + (before_.value + chain - all.value));
  }

  const ForwardPass& pass_;
  const PieceDurations& durations_;
  SegmentList::Reader reader_;
  Segment segment_;         // the current segment
  bool open_ = false;       // whether the current segment has not ended yet
  LogMessage before_;       // message of everything before the segment
  CompensatedSum content_;  // content of its positions so far
};

}  // namespace

WindowNeeds share_needs(const Engine& engine, const ScoreSource& source) {
  WindowNeeds needs = log_needs(engine, source);
  needs.output_bytes = ForwardRows::bytes_per_position(engine.model());
  return needs;
}

SegmentShares segment_shares(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                             const PieceChain& chain, const SegmentList& path,
                             const ProgressCallback& progress) {
  SegmentShares result;
  ForwardPass pass(engine, source, plan, chain, {.semiring = Semiring::kLog}, progress);
  const PieceDurations durations(pass.model(), chain.cut(), source.length());
  ShareSweep sweep(pass, durations, path);
  pass.left_to_right(result, [&] { sweep.walk(result.logs); });
  return result;
}

WindowNeeds ExactSegments::needs(const Engine& engine, const ScoreSource& source, const PieceChain&) const {
  return share_needs(engine, source);
}

void ExactSegments::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                        const BlockSink&) const {
  result.put(
      segment_shares(context.engine, context.source, plan, context.chain, result.path(), context.progress));
}

void ExactSegments::record(const PieceRecord& piece, SequenceReport& report) const {
  report.add_totals(piece.result.get<SegmentShares>(), 1, piece);
}

}  // namespace semicrf
