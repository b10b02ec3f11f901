#include "analyses/draws/segment_shares.h"

#include <algorithm>
#include <vector>

#include "analyses/draws/forward_rows.h"
#include "analyses/sequence_report.h"
#include "core/chain_model.h"
#include "core/compensated_sum.h"
#include "engine/device_memory.h"
#include "model/scores/linear_heads.h"

namespace semicrf {

namespace {

class ShareSweep {
 public:
  ShareSweep(Engine& engine, std::int64_t length, const SegmentList& path, const EdgeRoles* roles)
      : model_(engine.model()), length_(length), roles_(roles), rows_(model_, 0), reader_(path) {
    next_segment();
  }

  ForwardArrays prepare(PositionRange range) { return rows_.prepare(range); }

  // Adds up the segments, or their parts, in the window that the engine has just filled.
  void walk(PositionRange range, const ScoreWindow& scores, const ForwardWindow& window,
            SpooledNumbers& logs) {
    rows_.finish(window, nullptr);
    const CentredScores centred(model_, scores);
    while (open_ && segment_.begin < range.end) {
      if (segment_.begin >= range.begin) {
        before_ = rows_.start(segment_.begin, segment_.label);
        content_ = CompensatedSum();
      }
      const std::int64_t stop = std::min(segment_.end, range.end);
      for (std::int64_t t = std::max(segment_.begin, range.begin); t < stop; ++t)
        content_.add(centred.emission(t, segment_.label));
      if (segment_.end > range.end) return;
      logs.append(log_share(centred));
      next_segment();
    }
  }

 private:
  void next_segment() {
    open_ = reader_.next(segment_);
    if (open_ && roles_ != nullptr) segment_.label = roles_->with_role(segment_, length_);
  }
  // The message of all segments of the label that end where the segment does, whatever their roles.
  LogMessage all_that_end() const {
    LogMessage all = rows_.alpha(segment_.end, segment_.label);
    if (roles_ == nullptr || !roles_->cut().left || (roles_->cut().right && segment_.end == length_))
      return all;
    // These are whole segments and first ones; last ones end at T.
    const int whole = roles_->label_of(segment_.label) * roles_->count();
    const double both =
        log_add(rows_.alpha(segment_.end, whole).value, rows_.alpha(segment_.end, whole + 1).value);
    if (both > kNegativeInfinity) all.value = both;
    return all;
  }
  double log_share(const CentredScores& centred) const {
    const LogMessage all = all_that_end();
    const double chain = model_.duration_score(segment_.end - segment_.begin, segment_.label) +
                         centred.end(segment_.end - 1, segment_.label);
    // The model does not allow this segment; posterior decoding may give such ones.
    if (std::min({before_.value, chain, all.value}) == kNegativeInfinity) return kNegativeInfinity;
    return std::min(0.0, content_.plus(before_.level - all.level) + (before_.value + chain - all.value));
  }

  const ChainModel& model_;
  std::int64_t length_;  // T
  const EdgeRoles* roles_;
  ForwardRows rows_;
  SegmentList::Reader reader_;
  Segment segment_;         // the current segment, with its role
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
                             const SegmentList& path, const EdgeRoles* roles,
                             const ProgressCallback& progress) {
  SegmentShares result;
  ShareSweep sweep(engine, source.length(), path, roles);
  WindowLoop loop(engine, source, plan, WindowLoop::Scores::kNoFeatures, progress);
  loop.left_to_right(WindowLoop::States::kLatest, [&](std::int64_t n, const ScoreWindow& scores) {
    const PositionRange range = plan.range(n);
    ForwardWindow window = engine.forward(scores, range, loop.left(n), sweep.prepare(range));
    sweep.walk(range, scores, window, result.logs);
    result.add(window.chunks);
    return std::move(window.right);
  });
  return result;
}

WindowNeeds ExactSegments::needs(const Engine& engine, const ScoreSource& source, const PieceChain&) const {
  return share_needs(engine, source);
}

void ExactSegments::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                        const BlockSink&) const {
  result.put(segment_shares(context.engine, context.source, plan, result.path(), context.chain.roles,
                            context.progress));
}

void ExactSegments::record(const PieceRecord& piece, SequenceReport& report) const {
  report.add_totals(piece.result.get<SegmentShares>(), 1, piece);
}

}  // namespace semicrf
