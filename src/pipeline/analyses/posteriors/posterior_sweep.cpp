#include "pipeline/analyses/posteriors/posterior_sweep.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "core/parallel.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "io/files/temp_spool.h"
#include "pipeline/analyses/posteriors/posterior_rows.h"
#include "pipeline/windows/memory_budget.h"
#include "pipeline/windows/window_reader.h"

namespace semicrf {
namespace {

bool is_impossible(const BoundaryState& state) {
  const auto all_forbidden = [](const std::vector<double>& entries) {
    return std::all_of(entries.begin(), entries.end(),
                       [](double entry) { return entry == kNegativeInfinity; });
  };
  return all_forbidden(state.message) && all_forbidden(state.ring) && all_forbidden(state.tail);
}

void add_reports(const std::vector<ChunkReport>& chunks, PosteriorResult& result) {
  for (const ChunkReport& chunk : chunks) {
    result.boundary_mass += chunk.boundary_mass;
    result.boundary_plogp += chunk.boundary_plogp;
    result.label_entropy += chunk.label_entropy;
    result.max_normalization_error = std::max(result.max_normalization_error, chunk.max_normalization_error);
    result.fallbacks += chunk.fallbacks;
    result.repaired_chunks += chunk.repaired ? 1 : 0;
  }
}

class Sweep {
 public:
  Sweep(Engine& engine, ScoreSource& source, const WindowPlan& plan, const PosteriorSelection& selection,
        const ProgressCallback& progress)
      : engine_(engine),
        plan_(plan),
        selection_(selection),
        progress_(progress),
        reader_(engine, source, plan),
        rows_(selection, engine.model().num_labels, engine.precision()),
        spool_(kSpoolMemory, "") {}

  PosteriorResult run(const PosteriorSink& sink) {
    reader_.begin();
    if (!sweep_forward()) return {};
    prove_backward();
    for (const Window& kept : windows_) add_reports(kept.chunks, result_);
    release(sink);
    return result_;
  }

 private:
  // What is kept of a window after its outputs are spooled.
  struct Window {
    BoundaryState left_forward;   // true; unused for window 0
    BoundaryState left_backward;  // what the outputs were computed with
    BoundaryState right_warmed;   // the provisional state at its right edge; unused for the last window
    std::vector<ChunkReport> chunks;
    std::int64_t first_segment = 0;  // of the path
  };

  std::int64_t last() const { return plan_.count() - 1; }
  Window& window(std::int64_t n) { return windows_[static_cast<std::size_t>(n)]; }

  // Computes window n from its true left state; `right` is null at the end and while it is not known. `next`:
  // the window that is wanted after it, or -1.
  PosteriorWindow compute(std::int64_t n, const BoundaryState* right, std::int64_t next = -1) {
    const ScoreWindow scores = reader_.read(n);
    if (next >= 0) reader_.read_ahead(next);
    const PositionRange range = plan_.range(n);
    const BoundaryState* left = n == 0 ? nullptr : &window(n).left_forward;
    PosteriorWindow result = engine_.posteriors(scores, range, left, right, rows_.prepare(range));
    rows_.finish(window(n).first_segment);
    if (last() > 0) rows_.save(spool_, static_cast<std::size_t>(n));
    window(n).left_backward = std::move(result.left_backward);
    window(n).chunks = std::move(result.chunks);
    return result;
  }

  // Index of the first segment of the path that meets window n; windows are visited in order.
  std::int64_t first_segment(std::int64_t n) {
    if (!path_) path_.emplace(*selection_.path);
    while (segment_.end <= plan_.range(n).begin && path_->next(segment_)) ++segment_index_;
    return segment_index_;
  }

  // False when no segmentation is possible.
  bool sweep_forward() {
    windows_.resize(static_cast<std::size_t>(plan_.count()));
    for (std::int64_t n = 0; n <= last(); ++n) {
      if (selection_.path != nullptr) window(n).first_segment = first_segment(n);
      PosteriorWindow computed = compute(n, nullptr, n < last() ? n + 1 : -1);
      if (is_impossible(computed.right_forward)) return false;
      if (n < last()) {
        window(n).right_warmed = std::move(computed.right_warmed);
        window(n + 1).left_forward = std::move(computed.right_forward);
      } else {
        result_.log_partition = log_sum(computed.right_forward);
      }
      if (progress_) progress_(plan_.range(n).size());
    }
    result_.feasible = result_.log_partition > kNegativeInfinity;
    return result_.feasible;
  }

  // From the sequence's real end leftwards: a window stands when the state it was computed with agrees with
  // the true one of its right neighbour; otherwise it is computed again from that.
  void prove_backward() {
    const double tolerance = engine_.grid().tolerance;
    for (std::int64_t n = last() - 1; n >= 0; --n) {
      const BoundaryState& truth = window(n + 1).left_backward;
      if (agreement(truth, window(n).right_warmed, tolerance, engine_.precision())) continue;
      compute(n, &truth);
      window(n).chunks.back().repaired = true;
    }
  }

  void release(const PosteriorSink& sink) {
    for (std::int64_t n = 0; n <= last(); ++n) {
      if (last() > 0) rows_.load(spool_, static_cast<std::size_t>(n), plan_.range(n));
      sink(rows_.block());
    }
  }

  Engine& engine_;
  const WindowPlan& plan_;
  const PosteriorSelection& selection_;
  const ProgressCallback& progress_;
  WindowReader reader_;
  PosteriorRows rows_;
  TempSpool spool_;
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
  WindowNeeds needs;
  needs.engine_bytes = [&engine](std::int64_t positions) { return engine.posterior_bytes(positions); };
  needs.score_bytes = source.bytes_per_position() * (WindowReader::reads_ahead(engine, source) ? 2 : 1);
  take_device_needs(engine, source, needs, [](const DeviceMemory& device, const WindowShape& shape) {
    return device.posterior_device_bytes(shape, false);
  });
  needs.output_bytes = PosteriorRows::bytes_per_position(selection, engine.model().num_labels);
  needs.reads_right_halo = true;
  // A device is full only with many chunks at a time: as many as fit.
  needs.enough_positions = engine.own_memory() ? 0 : enough_positions(engine.grid());
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
    rows[i].finish(0);
    sink(i, rows[i].block());
  });
  return results;
}

}  // namespace semicrf
