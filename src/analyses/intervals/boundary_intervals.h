// The credible intervals of all boundaries of a path (docs/users/formats.md, "Tables of segments and
// boundaries").
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/intervals/start_interval.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "analyses/spooled_array.h"
#include "analyses/viterbi/segment_list.h"
#include "core/chain_model.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

// One interval per segment of the path, that of its start, from left to right.
class BoundaryIntervals {
 public:
  void append(const std::optional<BoundaryInterval>& interval);
  // The next interval is that of answers[i], i = 0, 1, ... for every call.
  void append_open();
  std::vector<std::optional<BoundaryInterval>> answers;
  std::optional<ChunkTotals> swept;  // chunks of the sweep that the answers took

  class Reader {
   public:
    explicit Reader(const BoundaryIntervals& list) : list_(&list), stored_(list.stored_) {}
    // The interval of the next segment, as long as there is one. Nothing: no interval in reach has the wanted
    // probability.
    std::optional<BoundaryInterval> next();

   private:
    const BoundaryIntervals* list_;
    SpooledArray<BoundaryInterval>::Reader stored_;
    std::size_t open_ = 0;
  };

 private:
  SpooledArray<BoundaryInterval> stored_;
};

// Finds the intervals from the posteriors along the path and, where these do not decide, from messages as
// well.
class IntervalFinder {
 public:
  // `model`: the model whose labels the posteriors have. `path` and `model` must outlive add().
  IntervalFinder(const SegmentList& path, const ChainModel& model, double level);
  // Adds the next positions, from left to right: starts and ends along the path and of its next label.
  void add(const PosteriorBlock& block);

  // The intervals, after the last position; to be called once. Where candidates are left, the source is swept
  // once more, in the windows of `plan` (made with interval_needs()).
  BoundaryIntervals finish(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                           const PieceChain& chain, int threads, const ProgressCallback& progress = {});

 private:
  // A boundary whose interval is one of several candidates.
  struct Open {
    int label = 0;
    std::int64_t first = 0, count = 0;  // range of its candidates in candidates_
    PositionRange place;                // positions of the widest candidate
    std::int64_t first_posterior = 0;   // index in posteriors_ of the first position of `place`
  };
  void close_segment();
  std::vector<PositionRange> places() const;
  std::optional<BoundaryInterval> settled(const Open& open, const RepeatedStarts& repeated) const;

  double level_;
  StartInterval search_;
  SegmentList::Reader path_;
  Segment segment_;
  bool in_segment_ = false;
  std::vector<Open> open_;
  SpooledArray<IntervalCandidate> candidates_;
  SpooledNumbers posteriors_;
  BoundaryIntervals found_;
};

WindowNeeds interval_needs(const Engine& engine, const ScoreSource& source);

// The credible intervals of the boundaries of a path as an analysis.
//
// Result: BoundaryIntervals. Stands behind the analysis that finds the path, and behind posteriors along it
// with path_edges and path_next.
class CredibleIntervals : public Analysis {
 public:
  // `level`: the probability within an interval, in (0, 1).
  explicit CredibleIntervals(double level) : level_(level) {}

  std::string title() const override { return "intervals"; }
  int passes() const override { return 1; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  void begin_posteriors(const PieceContext& context, PieceResult& result) const override;
  void add_posteriors(const PosteriorBlock& block, PieceResult& result) const override;
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;

 private:
  double level_;
};

}  // namespace semicrf
