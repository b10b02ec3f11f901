// Whole sequences at once: laid out on common rows, so that one set of kernels does all of them.
#include <algorithm>

#include "cuda/cuda_engine_impl.h"
#include "cuda/sizes.h"

namespace semicrf::cuda {
namespace {

bool same_heads(const FeatureRows& a, const FeatureRows& b) {
  return a.tracks == b.tracks && a.wide == b.wide && a.emission == b.emission && a.start == b.start &&
         a.finish == b.finish && a.margin == b.margin &&
         (a.true_labels == nullptr) == (b.true_labels == nullptr);
}

bool same_arrays(const ScoreWindow& a, const ScoreWindow& b) {
  const auto same = [](const ScoreArray& x, const ScoreArray& y) {
    return (x.f32 != nullptr) == (y.f32 != nullptr) && (x.f64 != nullptr) == (y.f64 != nullptr);
  };
  return same(a.emissions, b.emissions) && same(a.start_scores, b.start_scores) &&
         same(a.end_scores, b.end_scores) && a.baseline.empty() == b.baseline.empty() &&
         a.subtract_position_max == b.subtract_position_max && same(a.features.rows, b.features.rows) &&
         same_heads(a.features, b.features);
}

}  // namespace

// Enough for a card, and not too much for the host.
template <class Real>
std::int64_t CudaEngine<Real>::batch_positions() const {
  constexpr std::int64_t kRuns = 128;
  return std::clamp<std::int64_t>(kRuns * grid_.unit, std::int64_t{1} << 18, std::int64_t{1} << 20);
}

// Those that are computed together with sequences[first]: as many as follow it and fit the memory. Longer
// ones fill the card by themselves, and come alone. `out`: the posteriors that are wanted, empty: none.
template <class Real>
std::size_t CudaEngine<Real>::batch_end(std::span<const ScoreWindow> sequences, std::size_t first,
                                        std::span<const PosteriorArrays> out, bool counts) const {
  const bool posteriors = !out.empty();
  BatchShape shape;
  shape.score_bytes = score_bytes(sequences[first]) + feature_bytes(sequences[first]);
  const HeadRequest heads =
      posteriors ? batch_head_request(sequences.subspan(first), out.subspan(first)) : HeadRequest();
  if (!heads.targets.empty()) shape.head_sum_entries = head_sum_entries(heads, model_.num_labels);
  std::size_t end = first;
  const int teams = teams_at_once(tile_);
  while (end < sequences.size() && is_short(grid_, sequences[end].length, teams) &&
         same_arrays(sequences[first], sequences[end])) {
    const std::int64_t length = sequences[end].length;
    const PlacedSequence sequence = cut(length, {0, length}, posteriors);
    shape.rows += ceil_div<std::int64_t>(length, kBlock) * kBlock;
    shape.runs += ceil_div(length, sequence.run);
    shape.states += ceil_div(length, sequence.run) + ceil_div(length, sequence.mark);
    ++shape.sequences;
    if (end > first && batch_need(model_shape(), shape, posteriors, counts) > memory_) break;
    ++end;
  }
  return end;
}

template <class Real>
void CudaEngine<Real>::upload_batch(std::span<const ScoreWindow> sequences, bool with_marks) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(device_));
  std::vector<PlacedSequence> whole;
  for (const ScoreWindow& sequence : sequences)
    whole.push_back(cut(sequence.length, {0, sequence.length}, with_marks));
  batch_layout_ = SequenceLayout(std::move(whole));
  batch_.upload(sequences, batch_layout_, model_.num_labels, stream_);
}

template <class Real>
typename CudaEngine<Real>::Work CudaEngine<Real>::batch_work() const {
  PassPlan plan;
  plan.layout = batch_layout_;
  plan.warmup = run_warmup(grid_, sizeof(Real));
  return {plan, batch_.on_device(), batch_.subtract_position_max(), {}};
}

template <class Real>
std::vector<RunOutcome> CudaEngine<Real>::forward_batch_pass() {
  const Work work = batch_work();
  return log_forward().run(work.plan, work.sequences, nullptr, nullptr);
}

template <class Real>
void CudaEngine<Real>::posterior_batch_pass(const PosteriorArrays& wanted) {
  sweep(batch_work(), nullptr, nullptr, wanted);
}

// log Z of sequence `i` of the batch, whose runs are outcomes up to `last`.
template <class Real>
double CudaEngine<Real>::batch_log_partition(std::size_t i, const RunOutcome& last) const {
  BoundaryState state = log_forward_->final_message(i);
  state.whole += last.whole;
  state.offset += last.offset;
  return log_sum(state);
}

template <class Real>
std::vector<SequenceResult> CudaEngine<Real>::log_partitions(std::span<const ScoreWindow> sequences) {
  std::vector<SequenceResult> results;
  while (results.size() < sequences.size()) {
    const std::size_t first = results.size();
    const std::size_t end = batch_end(sequences, first, {}, false);
    if (end <= first + 1) {
      results.push_back(std::move(Engine::log_partitions(sequences.subspan(first, 1)).front()));
      continue;
    }
    upload_batch(sequences.subspan(first, end - first), false);
    results.resize(end);
    for (std::size_t i = first; i < end; ++i)
      results[i].chunks.resize(chunk_of(sequences[i].length - 1, {0, sequences[i].length}) + 1);
    for (const RunOutcome& outcome : forward_batch_pass()) {
      const std::size_t i = wide(outcome.sequence);
      const PositionRange range = batch_layout_.sequences[i].range;
      ChunkReport& chunk = results[first + i].chunks[chunk_of(outcome.range.begin, range)];
      chunk.fallbacks += outcome.report.fallbacks;
      chunk.repaired = chunk.repaired || outcome.repaired;
      if (outcome.range.end == range.end) results[first + i].log_partition = batch_log_partition(i, outcome);
    }
  }
  return results;
}

template <class Real>
std::vector<SequenceResult> CudaEngine<Real>::posteriors_of(std::span<const ScoreWindow> sequences,
                                                            std::span<const PosteriorArrays> out,
                                                            ExpectedCounts* counts) {
  std::vector<SequenceResult> results;
  while (results.size() < sequences.size()) {
    const std::size_t first = results.size();
    const std::size_t end = batch_end(sequences, first, out, counts != nullptr);
    if (end <= first + 1) {
      results.push_back(std::move(
          Engine::posteriors_of(sequences.subspan(first, 1), out.subspan(first, 1), counts).front()));
      continue;
    }
    upload_batch(sequences.subspan(first, end - first), true);
    const std::span<const PosteriorArrays> arrays = out.subspan(first, end - first);
    PosteriorArrays wanted;  // of any of them
    for (const PosteriorArrays& own : arrays) {
      for (const auto array : {&PosteriorArrays::boundary, &PosteriorArrays::labels, &PosteriorArrays::starts,
                               &PosteriorArrays::ends})
        if (own.*array != nullptr) wanted.*array = own.*array;
    }
    wanted.counts = counts;
    Work work = batch_work();
    work.heads = batch_head_request(sequences.subspan(first, end - first), arrays);
    Sweeps sweeps = sweep(work, nullptr, nullptr, wanted);
    for (const RunOutcome& outcome : sweeps.forward) {
      const std::size_t i = wide(outcome.sequence);
      if (outcome.range.end != batch_layout_.sequences[i].range.end) continue;
      results.push_back({batch_log_partition(i, outcome), std::move(sweeps.chunks[i])});
    }
    download_posteriors(batch_layout_, arrays);
  }
  return results;
}

#define SEMICRF_INSTANTIATE(Real)                                                                      \
  template std::int64_t CudaEngine<Real>::batch_positions() const;                                     \
  template void CudaEngine<Real>::upload_batch(std::span<const ScoreWindow>, bool);                    \
  template std::vector<RunOutcome> CudaEngine<Real>::forward_batch_pass();                             \
  template void CudaEngine<Real>::posterior_batch_pass(const PosteriorArrays&);                        \
  template std::vector<SequenceResult> CudaEngine<Real>::log_partitions(std::span<const ScoreWindow>); \
  template std::vector<SequenceResult> CudaEngine<Real>::posteriors_of(                                \
      std::span<const ScoreWindow>, std::span<const PosteriorArrays>, ExpectedCounts*);
SEMICRF_INSTANTIATE(float)
SEMICRF_INSTANTIATE(double)
#undef SEMICRF_INSTANTIATE

}  // namespace semicrf::cuda
