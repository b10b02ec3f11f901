#include "bench/sequence_passes.h"

#include <algorithm>

#include "analyses/viterbi/viterbi_decoder.h"
#include "core/threads/parallel.h"
#include "model/scores/score_source.h"

namespace semicrf {
namespace {

ViterbiResult path_of(Engine& engine, const ScoreWindow& whole, int threads) {
  MemoryScoreSource source(whole, engine.model().num_labels);
  WindowPlan plan;
  plan.length = plan.window = whole.length;
  return decode_viterbi(engine, source, plan, {}, threads);
}

void add(std::vector<double>& sums, const std::vector<double>& values) {
  sums.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sums[i] += values[i];
}

}  // namespace

SequencePasses::SequencePasses(EngineOptions options, const ChainModel& model, int threads,
                               std::span<const ScoreWindow> sequences)
    : threads_(threads), sequences_(sequences) {
  options.threads = threads;
  engines_.push_back(make_engine(options, model));
  if (sequences.size() == 1 || in_one_call() || threads == 1) return;
  engines_.clear();
  options.threads = 1;
  for (int i = 0; i < threads; ++i) engines_.push_back(make_engine(options, model));
}

std::vector<SequenceResult> SequencePasses::log_partitions() const {
  if (in_one_call()) return engine().batches().log_partitions(sequences_);
  std::vector<SequenceResult> results(sequences_.size());
  parallel_for(static_cast<int>(engines_.size()), sequences_.size(), [&](std::size_t i, int worker) {
    ForwardWindow window = engines_[worker]->forward(sequences_[i], {0, sequences_[i].length}, nullptr, {});
    results[i] = {log_sum(window.right), std::move(window.chunks)};
  });
  return results;
}

ForwardRun SequencePasses::forward() const {
  ForwardRun run;
  for (const SequenceResult& result : log_partitions()) {
    run.log_partition += result.log_partition;
    run.totals.add(result.chunks);
  }
  return run;
}

PathsRun SequencePasses::paths() const {
  std::vector<ViterbiResult> results(sequences_.size());
  if (in_one_call()) {
    const std::vector<SequencePath> paths = engine().batches().viterbi_of(sequences_);
    for (std::size_t i = 0; i < paths.size(); ++i)
      results[i] = known_path(engine().model(), sequences_[i], paths[i]);
  } else {
    const int threads_of_one = sequences_.size() == 1 ? threads_ : 1;
    parallel_for(static_cast<int>(engines_.size()), sequences_.size(), [&](std::size_t i, int worker) {
      results[i] = path_of(*engines_[worker], sequences_[i], threads_of_one);
    });
  }
  PathsRun run;
  for (const ViterbiResult& result : results) {
    run.score += result.score.value_or(0);
    run.segments += result.segments.size();
    run.totals.fallbacks += result.fallbacks;
    run.totals.repaired_chunks += result.repaired_chunks;
  }
  return run;
}

std::vector<SequenceResult> SequencePasses::results(std::span<const PosteriorArrays> out,
                                                    ExpectedCounts* counts) const {
  if (in_one_call()) return engine().batches().posteriors_of(sequences_, out, counts);
  std::vector<SequenceResult> results(sequences_.size());
  std::vector<ExpectedCounts> counted(counts != nullptr ? sequences_.size() : 0);
  parallel_for(static_cast<int>(engines_.size()), sequences_.size(), [&](std::size_t i, int worker) {
    PosteriorArrays arrays = out[i];
    if (counts != nullptr) arrays.counts = &counted[i];
    PosteriorWindow window =
        engines_[worker]->posteriors(sequences_[i], {0, sequences_[i].length}, nullptr, nullptr, arrays);
    results[i] = {log_sum(window.right_forward), std::move(window.chunks)};
  });
  for (const ExpectedCounts& one : counted) {
    add(counts->transition, one.transition);
    add(counts->duration, one.duration);
    add(counts->tail, one.tail);
  }
  return results;
}

void SequencePasses::posteriors(PosteriorRun& run, ExpectedCounts* counts) const {
  const auto labels = static_cast<std::size_t>(engine().model().num_labels);
  const auto length = static_cast<std::size_t>(sequences_.front().length);
  run.boundary.resize(sequences_.size() * length);
  run.labels.resize(run.boundary.size() * labels);
  std::vector<PosteriorArrays> out(sequences_.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i].boundary = run.boundary.data() + i * length;
    out[i].labels = run.labels.data() + i * length * labels;
    out[i].sums = counts == nullptr;  // as training asks
  }
  run.log_partition = run.max_normalization_error = 0;
  run.totals = {};
  for (const SequenceResult& result : results(out, counts)) {
    run.log_partition += result.log_partition;
    run.totals.add(result.chunks);
    for (const ChunkReport& chunk : result.chunks)
      run.max_normalization_error = std::max(run.max_normalization_error, chunk.max_normalization_error);
  }
}

}  // namespace semicrf
