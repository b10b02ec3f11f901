#include "cpu/cpu_engine.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "core/sizes.h"
#include "core/threads/parallel.h"
#include "cpu/chunk_kernel.h"
#include "cpu/score_view.h"
#include "cpu/viterbi/viterbi_messages.h"
#include "engine/batch.h"
#include "engine/cut_edges.h"

namespace semicrf {
namespace {

using cpu::RunStart;
using cpu::RunStates;

// Numbers behind the choice: docs/lab-notes.md, "Chunks".
ChunkGrid grid_for(const ChainModel& model, Precision precision) {
  ChunkGrid grid;
  grid.warmup =
      round_up<std::int64_t>(std::max(8 * std::int64_t{model.max_duration}, std::int64_t{256}), cpu::kBlock);
  // Ten warm-ups, so that one thread loses little; fewer where durations are so long that a chromosome would
  // be one chunk and threads had nothing to share.
  constexpr std::int64_t kLongChunk = 65536;
  grid.chunk = std::max({std::int64_t{8192}, std::min(10 * grid.warmup, kLongChunk), 5 * grid.warmup});
  grid.tolerance = precision == Precision::kFloat ? 1e-5 : 1e-11;
  grid.edge = cpu::kBlock;
  return grid;
}

EngineInfo describe(ChainModel model, Precision precision, const std::string& instruction_set) {
  const ChunkGrid grid = grid_for(model, precision);
  const std::string numbers = precision == Precision::kFloat ? "float" : "double";
  return {"cpu",
          "cpu (" + chosen_instruction_set(instruction_set) + ", " + numbers + ")",
          std::move(model),
          precision,
          grid,
          false,
          true,
          true};
}

// Moves `positions` rows of forward messages to another origin: `whole` goes into the levels where they are
// kept.
void move_rows(const ForwardArrays& rows, std::size_t positions, std::size_t labels, double whole,
               double offset) {
  const auto add = [](double* to, std::size_t count, double shift) {
    for (std::size_t i = 0; to != nullptr && i < count; ++i) to[i] += shift;
  };
  const double at_ends = rows.end_levels != nullptr ? offset : whole + offset;
  add(rows.starts, positions * labels, rows.start_levels != nullptr ? offset : whole + offset);
  add(rows.ends, positions * labels, at_ends);
  add(rows.tails, positions * labels, at_ends);
  add(rows.start_levels, positions, whole);
  add(rows.end_levels, positions, whole);
}

class CpuEngine final : public Engine {
 public:
  CpuEngine(ChainModel model, Precision precision, int threads, const std::string& instruction_set)
      : Engine(describe(std::move(model), precision, instruction_set), nullptr, one_by_one_),
        pool_(threads),
        instruction_set_(instruction_set) {
    with_instruction_set(instruction_set, [this] {
      trace_tables_ = std::make_unique<const cpu::TraceTables>(model_);
      const bool single = precision_ == Precision::kFloat;
      viterbi_factory_ = cpu::viterbi_unit(model_);
      if (!viterbi_factory_)
        viterbi_factory_ = single ? cpu::viterbi_float(*trace_tables_) : cpu::viterbi_double(*trace_tables_);
      posterior_factory_ = cpu::posterior_unit(
          model_, precision_, single ? cpu::posterior_float(model_) : cpu::posterior_double(model_));
    });
    viterbi_kernels_.resize(pool_.size());
    message_kernels_.resize(pool_.size());
    posterior_kernels_.resize(pool_.size());
  }

  std::size_t viterbi_bytes(std::int64_t positions, bool keep_messages) const override {
    const std::int64_t chunk = std::min(grid_.chunk, positions);
    const auto chunks = wide(ceil_div(positions, grid_.chunk));
    // A chunk that has to be computed again is held whole besides.
    const std::size_t kept = keep_messages ? chunks * viterbi_factory_->path_bytes(chunk) +
                                                 viterbi_factory_->workspace_bytes(chunk)
                                           : 0;
    const std::size_t workers = std::min(chunks, static_cast<std::size_t>(pool_.size()));
    return kept + viterbi_factory_->table_bytes() + states_bytes(positions, 2) +
           workers * viterbi_factory_->workspace_bytes(chunk);
  }
  std::size_t posterior_bytes(std::int64_t positions, bool counts) const override {
    const std::int64_t chunk = std::min(grid_.chunk, positions);
    const std::size_t workspace =
        posterior_factory_->workspace_bytes(chunk) + (counts ? posterior_factory_->counts_bytes(chunk) : 0);
    const auto chunks = wide(ceil_div(positions, grid_.chunk));
    const std::size_t workers = std::min(chunks, static_cast<std::size_t>(pool_.size()));
    // The counts of a chunk are about as large as a state.
    return posterior_factory_->table_bytes() + states_bytes(positions, counts ? 5 : 4) + workers * workspace;
  }

  std::size_t right_edge_bytes() const override {
    return cpu::CpuViterbiMessages::edge_bytes(model_, grid_.chunk,
                                               viterbi_factory_->path_bytes(grid_.chunk));
  }

  std::size_t usual_viterbi_bytes(std::int64_t positions) const override {
    const auto path = [&](std::int64_t chunk) { return viterbi_factory_->usual_path_bytes(chunk); };
    const auto work = [&](std::int64_t chunk) { return viterbi_factory_->usual_workspace_bytes(chunk); };
    const auto chunks = wide(ceil_div(positions, grid_.chunk));
    const std::size_t workers = std::min(chunks, static_cast<std::size_t>(pool_.size()));
    // Heaps of several threads hold paths of the window before.
    const std::size_t left = workers > 1 ? path(std::min(grid_.chunk, positions)) / 2 : 0;
    return over_chunks(positions, chunks, path) + over_chunks(positions, workers, work) + left +
           viterbi_factory_->table_bytes() + states_bytes(positions, 2);
  }
  std::size_t usual_posterior_bytes(std::int64_t positions, bool counts) const override {
    const auto work = [&](std::int64_t chunk) {
      return posterior_factory_->usual_workspace_bytes(chunk) +
             (counts ? posterior_factory_->counts_bytes(chunk) : 0);
    };
    const auto chunks = wide(ceil_div(positions, grid_.chunk));
    const std::size_t workers = std::min(chunks, static_cast<std::size_t>(pool_.size()));
    return posterior_factory_->table_bytes() + states_bytes(positions, counts ? 5 : 4) +
           over_chunks(positions, workers, work);
  }

  ViterbiWindow viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        bool keep_messages) override;
  PosteriorWindow posteriors(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const BoundaryState* right, const PosteriorArrays& out) override;
  ForwardWindow forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        const ForwardArrays& out) override;
  ForwardWindow best_forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const ForwardArrays& out) override;

 private:
  void finish_cut_edges(const PosteriorWindow& window, PositionRange last_chunk,
                        const PosteriorArrays& out) const;
  // The run of one chunk: by which worker, from which start, and where its rows go.
  using RunForward = std::function<RunStates(int worker, PositionRange, RunStart, const ForwardArrays&)>;
  ForwardWindow forward_by(const RunForward& run, PositionRange range, const BoundaryState* left,
                           const ForwardArrays& out);
  std::size_t states_bytes(std::int64_t positions, std::size_t states) const {
    const auto chunks = wide(ceil_div(positions, grid_.chunk));
    return chunks * states * (static_cast<std::size_t>(model_.max_duration) + 2) *
           static_cast<std::size_t>(model_.num_labels) * sizeof(double);
  }
  // The sum of bytes(positions of the chunk) over the largest `count` chunks of so many positions.
  template <class Bytes>
  std::size_t over_chunks(std::int64_t positions, std::size_t count, Bytes bytes) const {
    const auto full = std::min(count, wide(positions / grid_.chunk));
    const std::int64_t rest = positions % grid_.chunk;
    return full * (full > 0 ? bytes(grid_.chunk) : 0) + (full < count && rest > 0 ? bytes(rest) : 0);
  }
  std::vector<PositionRange> chunks_of(PositionRange range) const {
    std::vector<PositionRange> chunks;
    for (std::int64_t begin = range.begin; begin < range.end; begin += grid_.chunk) {
      chunks.push_back({begin, std::min(begin + grid_.chunk, range.end)});
    }
    return chunks;
  }
  // Whether a run that warmed up to `states.entry` agrees with the truth there; if so its exit is put on the
  // truth's scale.
  bool join(const BoundaryState& truth, RunStates& states, const std::vector<int>& twins,
            cpu::ChunkPath* path = nullptr) const {
    const auto shift = agreement(truth, states.entry, grid_.tolerance, precision_, twins);
    if (!shift) return false;
    const double whole = truth.whole - states.entry.whole;
    states.exit.offset += *shift;
    states.exit.whole += whole;
    if (path != nullptr) path->move_by(whole, *shift);
    return true;
  }
  cpu::ViterbiKernel& viterbi_kernel(int worker) {
    auto& kernel = viterbi_kernels_[worker];
    if (!kernel) kernel = viterbi_factory_->make();
    return *kernel;
  }
  // For best_forward(): the kernels of the path, but for those of K = 1, which keep no such messages.
  cpu::ViterbiKernel& message_kernel(int worker) {
    if (!message_factory_) return viterbi_kernel(worker);
    auto& kernel = message_kernels_[worker];
    if (!kernel) kernel = message_factory_->make();
    return *kernel;
  }
  cpu::PosteriorKernel& posterior_kernel(int worker) {
    auto& kernel = posterior_kernels_[worker];
    if (!kernel) kernel = posterior_factory_->make();
    return *kernel;
  }

  const ChainModel& model_ = model();
  const Precision precision_ = precision();
  const ChunkGrid& grid_ = info().grid;
  const std::vector<int> first_twins_ = edge_twins(model_, Direction::kForward);
  const std::vector<int> last_twins_ = edge_twins(model_, Direction::kBackward);
  const std::optional<CutEdgeSums> cut_sums_ =
      model_.cut.any() ? std::optional<CutEdgeSums>(model_) : std::nullopt;
  OneByOne one_by_one_{*this};
  ThreadPool pool_;
  const std::string instruction_set_;
  std::unique_ptr<const cpu::TraceTables> trace_tables_;
  std::unique_ptr<cpu::KernelFactory<cpu::ViterbiKernel>> viterbi_factory_;
  std::unique_ptr<cpu::KernelFactory<cpu::ViterbiKernel>> message_factory_;  // or null: viterbi_factory_
  std::unique_ptr<cpu::KernelFactory<cpu::PosteriorKernel>> posterior_factory_;
  std::vector<std::unique_ptr<cpu::ViterbiKernel>> viterbi_kernels_;
  std::vector<std::unique_ptr<cpu::ViterbiKernel>> message_kernels_;
  std::vector<std::unique_ptr<cpu::PosteriorKernel>> posterior_kernels_;
};

ViterbiWindow CpuEngine::viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                                 bool keep_messages) {
  expect_no_cut_edges();
  const std::vector<PositionRange> chunks = chunks_of(range);
  std::vector<RunStates> states(chunks.size());
  std::vector<cpu::CpuViterbiMessages::Chunk> kept(keep_messages ? chunks.size() : 0);
  const auto path = [&](std::size_t i) { return keep_messages ? &kept[i].path : nullptr; };
  pool_.run(chunks.size(), [&](std::size_t i, int worker) {
    states[i] = viterbi_kernel(worker).run(scores, chunks[i], grid_.warmup, RunStart(), path(i));
  });

  ViterbiWindow result;
  result.chunks.resize(chunks.size());
  const BoundaryState* truth = left;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (truth != nullptr && !join(*truth, states[i], first_twins_, path(i))) {
      states[i] =
          viterbi_kernel(0).run(scores, chunks[i], grid_.warmup, {RunStart::Kind::kState, truth}, path(i));
      result.chunks[i].repaired = true;
    }
    result.chunks[i].fallbacks = states[i].fallbacks;
    truth = &states[i].exit;
  }
  if (keep_messages) {
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      kept[i].range = chunks[i];
      kept[i].redone = result.chunks[i].repaired;
      if (i > 0) {
        kept[i].left = std::move(states[i - 1].exit);
      } else if (left != nullptr) {
        kept[i].left = *left;
      }
    }
    const auto restore = [this, scores](PositionRange chunk, const BoundaryState* state,
                                        cpu::ViterbiChunk& all) {
      const RunStart start = state != nullptr ? RunStart{RunStart::Kind::kState, state} : RunStart();
      viterbi_kernel(0).messages(scores, chunk, grid_.warmup, start, all);
    };
    result.messages =
        std::make_unique<cpu::CpuViterbiMessages>(*trace_tables_, scores, std::move(kept), restore);
  }
  result.right = std::move(states.back().exit);
  return result;
}

PosteriorWindow CpuEngine::posteriors(const ScoreWindow& scores, PositionRange range,
                                      const BoundaryState* left, const BoundaryState* right,
                                      const PosteriorArrays& out) {
  const std::vector<PositionRange> chunks = chunks_of(range);
  const auto labels = static_cast<std::size_t>(model_.num_labels);
  const auto rows_of = [&](std::size_t i) {
    const auto skip = static_cast<std::size_t>(chunks[i].begin - range.begin);
    PosteriorArrays at = out;
    if (at.boundary != nullptr) at.boundary += skip;
    for (double** rows : {&at.labels, &at.starts, &at.ends}) {
      if (*rows != nullptr) *rows += skip * labels;
    }
    return at;
  };
  const std::int64_t spacing =
      std::max<std::int64_t>(512, round_up<std::int64_t>(8 * std::int64_t{model_.max_duration}, cpu::kBlock));
  std::vector<cpu::PosteriorKernel::Result> results(chunks.size());
  pool_.run(chunks.size(), [&](std::size_t i, int worker) {
    results[i] = posterior_kernel(worker).posteriors(scores, chunks[i], grid_.warmup, spacing, RunStart(),
                                                     RunStart(), rows_of(i));
  });

  // Junctions in both directions: a chunk whose warm-up does not agree with the truth is swept again from the
  // truth.
  std::vector<char> forward_failed(chunks.size(), 0), backward_failed(chunks.size(), 0);
  std::vector<BoundaryState> forward_truth(chunks.size()), backward_truth(chunks.size());
  const BoundaryState* truth = left;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    RunStates& forward = results[i].forward;
    if (truth != nullptr && !join(*truth, forward, first_twins_)) {
      forward_failed[i] = 1;
      forward_truth[i] = *truth;
      forward = posterior_kernel(0).sweep(Direction::kForward, scores, chunks[i], grid_.warmup,
                                          {RunStart::Kind::kState, truth});
    }
    truth = &forward.exit;
  }
  PosteriorWindow result;
  result.right_warmed = results.back().backward.entry;
  truth = right;
  for (std::size_t i = chunks.size(); i-- > 0;) {
    RunStates& backward = results[i].backward;
    if (truth != nullptr && !join(*truth, backward, last_twins_)) {
      backward_failed[i] = 1;
      backward_truth[i] = *truth;
      backward = posterior_kernel(0).sweep(Direction::kBackward, scores, chunks[i], grid_.warmup,
                                           {RunStart::Kind::kState, truth});
    }
    truth = &backward.exit;
  }

  std::vector<std::size_t> repairs;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (forward_failed[i] || backward_failed[i]) repairs.push_back(i);
  }
  pool_.run(repairs.size(), [&](std::size_t n, int worker) {
    const std::size_t i = repairs[n];
    const auto start = [&](char failed, const BoundaryState& state) {
      return failed != 0 ? RunStart{RunStart::Kind::kState, &state} : RunStart();
    };
    cpu::PosteriorKernel::Result again = posterior_kernel(worker).posteriors(
        scores, chunks[i], grid_.warmup, spacing, start(forward_failed[i], forward_truth[i]),
        start(backward_failed[i], backward_truth[i]), rows_of(i));
    results[i].report = again.report;
    results[i].report.repaired = true;
    results[i].counts = std::move(again.counts);
  });

  if (out.counts != nullptr) out.counts->shape_for(model_);
  for (auto& chunk : results) {
    result.chunks.push_back(chunk.report);
    if (out.counts != nullptr) out.counts->add(chunk.counts);
  }
  result.right_forward = std::move(results.back().forward.exit);
  result.left_backward = std::move(results.front().backward.exit);
  if (cut_sums_) finish_cut_edges(result, chunks.back(), out);
  return result;
}

// Counts that only the edges know; and no head scores what a cut hides.
void CpuEngine::finish_cut_edges(const PosteriorWindow& window, PositionRange last_chunk,
                                 const PosteriorArrays& out) const {
  const auto labels = static_cast<std::ptrdiff_t>(model_.num_labels);
  if (out.counts != nullptr)
    cut_sums_->add_counts({last_chunk.end, cut_sums_->log_partition(window.right_forward),
                           window.left_backward, window.right_forward, last_chunk.begin, true},
                          *out.counts);
  if (model_.cut.left && out.starts != nullptr) std::fill_n(out.starts, labels, 0.0);
  if (model_.cut.right && out.ends != nullptr)
    std::fill_n(out.ends + (last_chunk.end - 1) * labels, labels, 0.0);
}

ForwardWindow CpuEngine::forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                                 const ForwardArrays& out) {
  return forward_by(
      [&](int worker, PositionRange chunk, RunStart start, const ForwardArrays& rows) {
        return posterior_kernel(worker).forward(scores, chunk, grid_.warmup, start, rows);
      },
      range, left, out);
}

ForwardWindow CpuEngine::best_forward(const ScoreWindow& scores, PositionRange range,
                                      const BoundaryState* left, const ForwardArrays& out) {
  expect_no_cut_edges();
  if (model_.max_duration == 1 && !message_factory_)
    with_instruction_set(instruction_set_,
                         [this] { message_factory_ = cpu::viterbi_double(*trace_tables_); });
  return forward_by(
      [&](int worker, PositionRange chunk, RunStart start, const ForwardArrays& rows) {
        return message_kernel(worker).forward(scores, chunk, grid_.warmup, start, rows);
      },
      range, left, out);
}

ForwardWindow CpuEngine::forward_by(const RunForward& run, PositionRange range, const BoundaryState* left,
                                    const ForwardArrays& out) {
  const std::vector<PositionRange> chunks = chunks_of(range);
  const auto labels = static_cast<std::size_t>(model_.num_labels);
  const auto rows_of = [&](std::size_t i) {
    const auto skip = static_cast<std::size_t>(chunks[i].begin - range.begin);
    ForwardArrays at = out;
    for (double** rows : {&at.starts, &at.ends, &at.tails}) {
      if (*rows != nullptr) *rows += skip * labels;
    }
    for (double** levels : {&at.start_levels, &at.end_levels}) {
      if (*levels != nullptr) *levels += skip;
    }
    return at;
  };
  std::vector<RunStates> states(chunks.size());
  pool_.run(chunks.size(),
            [&](std::size_t i, int worker) { states[i] = run(worker, chunks[i], RunStart(), rows_of(i)); });

  ForwardWindow result;
  result.whole = left != nullptr ? left->whole : 0.0;
  result.chunks.resize(chunks.size());
  struct Origin {
    double whole = 0, offset = 0;
  };
  std::vector<Origin> origins(chunks.size());
  const BoundaryState* truth = left;
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    if (truth != nullptr) {
      const auto shift = agreement(*truth, states[i].entry, grid_.tolerance, precision_, first_twins_);
      if (shift) {
        origins[i] = {truth->whole - states[i].entry.whole, *shift};
        states[i].exit.whole += origins[i].whole;
        states[i].exit.offset += origins[i].offset;
      } else {
        states[i] = run(0, chunks[i], {RunStart::Kind::kState, truth}, rows_of(i));
        origins[i] = {truth->whole, truth->offset};
        result.chunks[i].repaired = true;
      }
    }
    result.chunks[i].fallbacks = states[i].fallbacks;
    truth = &states[i].exit;
  }
  pool_.run(chunks.size(), [&](std::size_t i, int) {
    move_rows(rows_of(i), static_cast<std::size_t>(chunks[i].size()), labels, origins[i].whole - result.whole,
              origins[i].offset);
  });
  result.right = std::move(states.back().exit);
  return result;
}

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(ChainModel model, Precision precision, int threads,
                                        const std::string& instruction_set) {
  return std::make_unique<CpuEngine>(std::move(model), precision, threads, instruction_set);
}

}  // namespace semicrf
