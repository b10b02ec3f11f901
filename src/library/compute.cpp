// semicrf_compute(): the analyses of a request, over every sequence.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "analyses/analyse.h"
#include "analyses/best_paths/best_paths.h"
#include "analyses/draws/segment_sampler.h"
#include "analyses/posteriors/posteriors.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "core/threads/parallel.h"
#include "engine/batch.h"
#include "library/compute_on_device.h"
#include "library/engine_handle.h"
#include "library/result_handle.h"
#include "library/sequence_inputs.h"
#include "library/status.h"
#include "runs/piece_setup.h"
#include "windows/memory_budget.h"
#include "windows/path_score.h"

namespace semicrf {
namespace {

constexpr std::int64_t kShortChunks = 4;  // a sequence of fewer chunks does not keep several threads busy
constexpr int kMostSamples = 1'000'000;

// Whether any sequence wants this array.
bool wanted(std::span<const semicrf_sequence> sequences, semicrf_output semicrf_sequence::*array) {
  return std::ranges::any_of(sequences,
                             [&](const semicrf_sequence& one) { return (one.*array).data != nullptr; });
}

AnalysisList analyses_of(const semicrf_request& request, std::span<const semicrf_sequence> sequences,
                         const EngineOptions& engine) {
  if (request.best < 0 || request.best > kMostBestPaths)
    throw UsageError(fmt::format("best is {}", request.best), "it is 0 to 1000");
  if (request.samples < 0 || request.samples > kMostSamples)
    throw UsageError(fmt::format("samples is {}", request.samples), "it is 0 to 1000000");
  PosteriorRequest posteriors;
  posteriors.labels = wanted(sequences, &semicrf_sequence::labels);
  posteriors.starts = wanted(sequences, &semicrf_sequence::starts);
  posteriors.ends = wanted(sequences, &semicrf_sequence::ends);
  posteriors.sums = request.entropy != 0;
  posteriors.counts = request.counts != 0;
  const bool swept = posteriors.labels || posteriors.starts || posteriors.ends || posteriors.sums ||
                     posteriors.counts || wanted(sequences, &semicrf_sequence::boundary);
  AnalysisList analyses;
  analyses.engine = engine;
  if (request.best_path != 0 || request.best > 0) analyses.add<ViterbiDecoding>();
  if (request.best > 0) analyses.add<KBest>(request.best, std::size_t{0});
  if (swept) analyses.add<Posteriors>(posteriors);
  if (request.samples > 0) analyses.add<Samples>(request.samples, request.seed);
  if (request.log_partition != 0 && !swept && request.samples == 0 && request.best == 0)
    analyses.add<LogPartitionPass>();
  analyses.constraint_probability = request.log_partition != 0 || request.entropy != 0;
  return analyses;
}

class Computation {
 public:
  Computation(LibraryEngine& engine, EnginePool& pool, std::span<const semicrf_sequence> sequences,
              const semicrf_request& request, std::vector<SequenceFound>& found)
      : engine_(engine),
        pool_(pool),
        sequences_(sequences),
        analyses_(analyses_of(request, sequences, engine.options())),
        found_(found) {}

  void run() {
    // Shapes first: they cost nothing.
    for (std::size_t i = 0; i < sequences_.size(); ++i)
      check_outputs(sequences_[i], num_labels(), sequence_name(sequences_[i], i));
    std::vector<std::size_t> side_by_side;
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      if (goes_together(sequences_[i])) {
        if (!add_to_call(i)) flush_call();
      } else if (is_short(sequences_[i]) && pool_.threads() > 1 && sequences_.size() > 1) {
        side_by_side.push_back(i);
      } else {
        compute(i, pool_.worker_of(first()), pool_.threads());
      }
    }
    flush_call();
    parallel_for(pool_.threads(), side_by_side.size(), [&](std::size_t i, int thread) {
      compute(side_by_side[i], {static_cast<std::size_t>(thread), true}, 1);
    });
  }

 private:
  // A sequence that waits for the others of its call.
  struct Waiting {
    std::size_t index = 0;
    std::unique_ptr<ScoreSource> source;
    ScoreBuffers buffers;
    ScoreWindow window;
  };

  Engine& first() const { return pool_.first(); }
  int num_labels() const { return engine_.model().parameters.num_labels(); }
  bool is_short(const semicrf_sequence& sequence) const {
    const std::int64_t length = std::max<std::int64_t>(1, sequence.scores.rows);
    return length / kShortChunks < first().grid(length).chunk;
  }
  // Whether it is computed in one call of the engine with others.
  bool goes_together(const semicrf_sequence& sequence) const {
    const std::int64_t most = first().batches().batch_positions();
    return sequences_.size() > 1 && most > 0 && sequence.scores.rows < most && is_short(sequence) &&
           sequence.num_constraints == 0 && analyses_.computes_together();
  }
  std::unique_ptr<ScoreSource> source_of(std::size_t index, int threads) const {
    const semicrf_sequence& sequence = sequences_[index];
    return make_piece_source(open_sequence(engine_.model(), sequence, sequence_name(sequence, index),
                                           engine_.options().precision, threads),
                             {0, sequence.scores.rows});
  }
  PieceIdentity identity_of(std::size_t index) const {
    PieceIdentity identity;
    identity.sequence = identity.location.chromosome = sequence_name(sequences_[index], index);
    identity.bins = identity.location.limit = sequences_[index].scores.rows;
    return identity;
  }

  void take_posteriors(std::size_t index, const PosteriorBlock& block) const {
    check_posteriors(block, identity_of(index).location, first().model(),
                     [&] { return source_of(index, 1); });
    write_posteriors(block, sequences_[index]);
  }

  void score_given(std::size_t index, ScoreSource& source) {
    const std::vector<Segment> path =
        given_segments(sequences_[index], num_labels(), sequence_name(sequences_[index], index));
    if (path.empty()) return;
    const ChainModel& chain = engine_.model().parameters.chain;
    const double score = path_score(chain, source, path);
    const bool possible = score > kNegativeInfinity;  // NaN: a forbidden path, too
    found_[index].given_score =
        possible ? score + initial_gain(chain, path.front().label) : kNegativeInfinity;
  }

  void compute(std::size_t index, const EnginePool::Worker& worker, int threads) {
    const std::unique_ptr<ScoreSource> source = source_of(index, threads);
    score_given(index, *source);
    AnalysisList analyses = analyses_;
    analyses.constraints =
        constraints_of(sequences_[index], engine_.model(), sequence_name(sequences_[index], index));
    Engine& engine = pool_.engine(worker, {});
    PiecePlan plan =
        plan_piece(engine, *source, {}, analyses, engine_.window_budget(engine, *source, analyses));
    plan.threads = threads;
    found_[index].result = analyse_piece(
        engine, *source, {}, analyses, plan, identity_of(index),
        [&](const PieceResult&, const PosteriorBlock& block) { take_posteriors(index, block); }, {});
  }

  // False: the call is full.
  bool add_to_call(std::size_t index) {
    Waiting one;
    one.index = index;
    one.source = source_of(index, pool_.threads());
    score_given(index, *one.source);
    const std::int64_t length = one.source->length();
    waiting_.push_back(std::move(one));
    Waiting& kept = waiting_.back();
    kept.window = first().projects() ? kept.source->read(0, length, kept.buffers)
                                     : HostProjection(*kept.source).read(0, length, kept.buffers);
    waiting_positions_ += length;
    return waiting_positions_ < first().batches().batch_positions();
  }
  void flush_call() {
    if (waiting_.empty()) return;
    std::vector<ScoreWindow> windows;
    for (const Waiting& one : waiting_) windows.push_back(one.window);
    std::vector<PieceResult> results = analyse_together(
        first(), windows, analyses_,
        [&](std::size_t i, const PosteriorBlock& block) { take_posteriors(waiting_[i].index, block); },
        pool_.threads());
    for (std::size_t i = 0; i < results.size(); ++i) found_[waiting_[i].index].result = std::move(results[i]);
    waiting_.clear();
    waiting_positions_ = 0;
  }

  LibraryEngine& engine_;
  EnginePool& pool_;
  std::span<const semicrf_sequence> sequences_;
  AnalysisList analyses_;
  std::vector<SequenceFound>& found_;
  std::vector<Waiting> waiting_;
  std::int64_t waiting_positions_ = 0;
};

}  // namespace
}  // namespace semicrf

using namespace semicrf;

namespace {

// Makes a result with compute(engine, pool, sequences, their results).
template <class Compute>
semicrf_status computed(semicrf_engine* engine, const semicrf_sequence* sequences, size_t count,
                        const semicrf_request* request, semicrf_result** result, semicrf_error* error,
                        Compute compute) {
  return guarded(error, [&] {
    require(engine, "engine");
    require(request, "request");
    require(result, "result");
    if (count > 0) require(sequences, "sequences");
    LibraryEngine& own = engine->engine;
    auto found = std::make_unique<semicrf_result>();
    found->sequences.resize(count);
    found->model = own.shared_model();
    const LibraryEngine::Lease lease(own);
    compute(own, lease.pool(), std::span(sequences, count), found->sequences);
    *result = found.release();
  });
}

}  // namespace

semicrf_status semicrf_compute(semicrf_engine* engine, const semicrf_sequence* sequences, size_t count,
                               const semicrf_request* request, semicrf_result** result,
                               semicrf_error* error) {
  return computed(engine, sequences, count, request, result, error,
                  [&](LibraryEngine& own, EnginePool& pool, auto all, auto& found) {
                    Computation(own, pool, all, *request, found).run();
                  });
}

semicrf_status semicrf_compute_on_device(semicrf_engine* engine, const semicrf_sequence* sequences,
                                         size_t count, const semicrf_request* request, void* stream,
                                         semicrf_result** result, semicrf_error* error) {
  return computed(engine, sequences, count, request, result, error,
                  [&](LibraryEngine& own, EnginePool& pool, auto all, auto& found) {
                    compute_on_device(own, pool.first(), all, *request, stream, found);
                  });
}
