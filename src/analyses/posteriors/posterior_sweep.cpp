#include "analyses/posteriors/posterior_sweep.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "analyses/posteriors/posterior_rows.h"
#include "analyses/posteriors/posterior_summing.h"
#include "core/threads/parallel.h"
#include "engine/batch.h"
#include "engine/cut_edges.h"
#include "engine/device_memory.h"
#include "io/files/temp_spool.h"
#include "windows/memory_budget.h"
#include "windows/window_loop.h"

namespace semicrf {
namespace {

void add_reports(const std::vector<ChunkReport>& chunks, PosteriorResult& result) {
  result.add(chunks);
  for (const ChunkReport& chunk : chunks) {
    result.boundary_mass += chunk.boundary_mass;
    result.boundary_plogp += chunk.boundary_plogp;
    result.label_entropy += chunk.label_entropy;
    result.max_normalization_error = std::max(result.max_normalization_error, chunk.max_normalization_error);
  }
}

int base_labels(const Engine& engine, const PosteriorSelection& selection) {
  return engine.model().num_labels / (selection.roles != nullptr ? selection.roles->count() : 1);
}

class Sweep {
 public:
  Sweep(Engine& engine, ScoreSource& source, const WindowPlan& plan, const PosteriorSelection& selection,
        const ProgressCallback& progress)
      : engine_(engine),
        plan_(plan),
        selection_(selection),
        loop_(engine, source, plan, WindowLoop::Scores::kAny, progress, selection.edges),
        rows_(selection, base_labels(engine, selection), engine.precision()),
        spool_(kSpoolMemory, "") {
    if (selection.needs_sums()) sums_.emplace(engine, selection, loop_);
  }

  PosteriorResult run(const PosteriorSink& sink) {
    if (!sweep_forward()) return {};
    const bool stand = prove_backward();
    if (sums_) {
      if (!stand) add_up_again();
      count_at_edge_windows();
      result_.sums = sums_->finish(result_.log_partition, plan_.length);
      if (!selection_.counts) result_.sums->counts = {};
    }
    for (const Window& kept : windows_) add_reports(kept.chunks, result_);
    release(sink);
    return result_;
  }

 private:
  // The states and reports of a window that are kept after its outputs are spooled.
  struct Window {
    BoundaryState left_backward;  // backward state at its left edge, in the labels of the model
    BoundaryState right_warmed;   // the provisional state at its right edge; unused for the last window
    // Log Z less this is relative to the scale of `left_backward`.
    double backward_scale = 0;
    std::vector<ChunkReport> chunks;
    std::int64_t first_segment = 0;  // index of the path's first segment that meets the window
  };

  Window& window(std::int64_t n) { return windows_[n]; }
  const EdgeRoles* roles(std::int64_t n) const {
    return selection_.roles != nullptr ? selection_.roles : loop_.roles(n);
  }

  // Computes window n from its true left state; `right` is null at the end and while it is not known. Adds to
  // `sums`, if that is not null; that is not undone when the window is computed again.
  PosteriorWindow compute(std::int64_t n, const ScoreWindow& scores, const BoundaryState* right,
                          SumsWithEdges* sums) {
    const PositionRange range = plan_.range(n);
    PosteriorArrays arrays = rows_.prepare(range, roles(n));
    if (sums != nullptr) arrays.counts = &sums->counts(n);
    PosteriorWindow result = loop_.engine(n).posteriors(scores, range, loop_.left(n), right, arrays);
    rows_.clear_impossible(loop_.engine(n).model(), scores);
    if (sums != nullptr) add_up(*sums, n, scores);
    if (roles(n) != nullptr) fold(n, result.chunks);
    rows_.finish(window(n).first_segment);
    if (loop_.last() > 0) rows_.save(spool_, n);
    window(n).left_backward = loop_.out_of(n, std::move(result.left_backward), Direction::kBackward);
    window(n).chunks = std::move(result.chunks);
    return result;
  }

  // Adds up the window that was just computed.
  void add_up(SumsWithEdges& sums, std::int64_t n, const ScoreWindow& scores) {
    sums.add(n, rows_.computed(), scores);
    if (selection_.observer != nullptr) selection_.observer->add(rows_.computed(), scores);
  }

  // Adds up the roles of each label. The entropies of labels are computed again, as engines give those of the
  // chain's labels.
  void fold(std::int64_t n, std::vector<ChunkReport>& chunks) {
    rows_.fold();
    const PositionRange range = plan_.range(n);
    const std::int64_t step = loop_.engine(n).grid(plan_.length).chunk;
    for (std::int64_t i = 0; i < std::ssize(chunks); ++i) {
      const std::int64_t begin = range.begin + i * step;
      chunks[i].label_entropy = rows_.label_entropy({begin, std::min(begin + step, range.end)});
    }
  }

  // Index of the first segment of the path that meets window n; windows are visited in order.
  std::int64_t first_segment(std::int64_t n) {
    if (!path_) path_.emplace(*selection_.path);
    while (segment_.end <= plan_.range(n).begin && path_->next(segment_)) ++segment_index_;
    return segment_index_;
  }

  // False when no segmentation is possible.
  bool sweep_forward() {
    windows_.resize(plan_.count());
    const auto visit = [&](std::int64_t n, const ScoreWindow& scores) {
      if (selection_.path != nullptr) window(n).first_segment = first_segment(n);
      PosteriorWindow computed = compute(n, scores, nullptr, sums_ ? &*sums_ : nullptr);
      window(n).right_warmed = std::move(computed.right_warmed);
      if (n == loop_.last()) result_.log_partition = log_sum(computed.right_forward);
      return std::move(computed.right_forward);
    };
    result_.feasible =
        loop_.left_to_right(WindowLoop::States::kAll, visit) && result_.log_partition > kNegativeInfinity;
    return result_.feasible;
  }

  // Goes from the sequence's real end leftwards: a window stands when the state it was computed with agrees
  // with the true one of its right neighbour; otherwise it is computed again from that. True: all stand.
  bool prove_backward() {
    bool all = true;
    for (std::int64_t n = loop_.last() - 1; n >= 0; --n) {
      const Engine& engine = loop_.engine(n);
      const BoundaryState truth = loop_.into(n, window(n + 1).left_backward);
      window(n).backward_scale = window(n + 1).backward_scale;
      if (const std::optional<double> above =
              agreement(truth, window(n).right_warmed, engine.grid(plan_.length).tolerance,
                        engine.precision(), edge_twins(engine.model(), Direction::kBackward))) {
        window(n).backward_scale += (truth.whole - window(n).right_warmed.whole) + *above;
        continue;
      }
      all = false;
      compute(n, loop_.read(n), &truth, nullptr);
      window(n).chunks.back().repaired = true;
    }
    return all;
  }

  // Computes all windows once more, now that the states at their right edges are known: sums that hold the
  // share of a window that did not stand are of no use, and counts have the same digits only where windows
  // are added to each other from left to right.
  void add_up_again() {
    sums_.emplace(engine_, selection_, loop_);
    if (selection_.observer != nullptr) selection_.observer->restart();
    for (std::int64_t n = 0; n <= loop_.last(); ++n) {
      std::optional<BoundaryState> right;
      if (n < loop_.last()) right = loop_.into(n, window(n + 1).left_backward);
      const ScoreWindow scores = loop_.read(n);
      PosteriorArrays arrays = rows_.prepare(plan_.range(n), roles(n));
      arrays.counts = &sums_->counts(n);
      loop_.engine(n).posteriors(scores, plan_.range(n), loop_.left(n), right ? &*right : nullptr, arrays);
      rows_.clear_impossible(loop_.engine(n).model(), scores);
      add_up(*sums_, n, scores);
    }
  }

  // Windows at the edges are computed by another engine than those between them, which may count otherwise.
  void count_at_edge_windows() {
    if (!engine_.info().counts_by_end) return;
    const std::int64_t first = loop_.first_inner(), behind = loop_.last_inner() + 1;
    ExpectedCounts& counts = sums_->counts(first);
    if (first > 0) add_at_boundary(engine_.model(), states_at(first), 1, counts);
    if (behind <= loop_.last()) add_at_boundary(engine_.model(), states_at(behind), -1, counts);
  }
  // At the left edge of window n.
  StatesAtBoundary states_at(std::int64_t n) {
    return {loop_.state(n), window(n).left_backward, result_.log_partition - window(n).backward_scale};
  }

  void release(const PosteriorSink& sink) {
    for (std::int64_t n = 0; n <= loop_.last(); ++n) {
      if (loop_.last() > 0) rows_.load(spool_, n, plan_.range(n));
      sink(rows_.block());
    }
  }

  Engine& engine_;
  const WindowPlan& plan_;
  const PosteriorSelection& selection_;
  WindowLoop loop_;
  PosteriorRows rows_;
  TempSpool spool_;
  std::optional<SumsWithEdges> sums_;
  std::vector<Window> windows_;
  std::optional<SegmentList::Reader> path_;
  Segment segment_;
  std::int64_t segment_index_ = -1;
  PosteriorResult result_;
};

}  // namespace

double boundary_entropy(double mass, double plogp) {
  return mass > 0 ? std::max(0.0, std::log(mass) - plogp / mass) : 0;
}

WindowNeeds posterior_needs(const Engine& engine, const ScoreSource& source,
                            const PosteriorSelection& selection) {
  WindowNeeds needs = log_needs(engine, source, selection.needs_sums());
  if (WindowReader::reads_ahead(engine, source)) needs.score_bytes *= 2;
  needs.output_bytes = PosteriorRows::bytes_per_position(selection, engine.model().num_labels);
  const std::size_t packed = PosteriorRows::packed_bytes_per_position(selection, engine.model().num_labels);
  needs.usual_spool_bytes = engine.precision() == Precision::kFloat ? packed / 2 : packed;
  needs.usual_output_bytes = needs.output_bytes - packed;
  needs.reads_right_halo = true;
  // A device is full only with many chunks at a time: as many as fit.
  if (engine.own_memory()) needs.enough_positions = 0;
  return needs;
}

PosteriorResult sweep_posteriors(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                                 const PosteriorSelection& selection, const PosteriorSink& sink,
                                 const ProgressCallback& progress) {
  return Sweep(engine, source, plan, selection, progress).run(sink);
}

std::vector<PosteriorResult> posteriors_together(Engine& engine, std::span<const ScoreWindow> sequences,
                                                 std::span<const PosteriorSelection> selections,
                                                 const IndexedPosteriorSink& sink, int threads) {
  std::vector<PosteriorRows> rows;
  std::vector<PosteriorArrays> arrays;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    rows.emplace_back(selections[i], engine.model().num_labels, engine.precision());
    arrays.push_back(rows[i].prepare({0, sequences[i].length}));
  }
  const std::vector<SequenceResult> computed = engine.batches().posteriors_of(sequences, arrays, nullptr);
  std::vector<PosteriorResult> results(sequences.size());
  parallel_for(threads, sequences.size(), [&](std::size_t i, int) {
    if (computed[i].log_partition == kNegativeInfinity) return;
    results[i].feasible = true;
    results[i].log_partition = computed[i].log_partition;
    add_reports(computed[i].chunks, results[i]);
    rows[i].clear_impossible(engine.model(), sequences[i]);
    rows[i].finish(0);
    sink(i, rows[i].block());
  });
  return results;
}

}  // namespace semicrf
