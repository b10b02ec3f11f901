// Whole sequences at once: laid out on common rows, so that one set of kernels does all of them.
#include <algorithm>

#include "core/sizes.h"
#include "cuda/engine/cuda_engine_impl.h"
#include "engine/batch.h"

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
                                        BatchOutput output, std::span<const PosteriorArrays> out) const {
  BatchShape shape;
  shape.score_bytes = score_bytes(sequences[first]) + feature_bytes(sequences[first]);
  const bool with_marks = output == BatchOutput::kPosteriors || output == BatchOutput::kCounts;
  const HeadRequest heads =
      out.empty() ? HeadRequest() : batch_head_request(sequences.subspan(first), out.subspan(first));
  if (!heads.targets.empty()) shape.head_sum_entries = head_sum_entries(heads, model_.num_labels);
  std::size_t end = first;
  while (end < sequences.size() && is_short(grid_, sequences[end].length, teams_of(tile_)) &&
         same_arrays(sequences[first], sequences[end])) {
    const std::int64_t length = sequences[end].length;
    const PlacedSequence sequence = cut(length, {0, length}, with_marks);
    shape.rows += ceil_div<std::int64_t>(length, kBlock) * kBlock;
    shape.runs += ceil_div(length, sequence.run);
    shape.states += ceil_div(length, sequence.run) + ceil_div(length, sequence.mark);
    ++shape.sequences;
    if (end > first && batch_need(model_shape(), shape, output) > memory_) break;
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

// Fallbacks and repairs of the runs, by sequence of the batch and chunk of the grid.
template <class Real>
std::vector<std::vector<ChunkReport>> CudaEngine<Real>::batch_reports(
    const std::vector<RunOutcome>& outcomes) const {
  std::vector<std::vector<ChunkReport>> reports;
  for (const PlacedSequence& sequence : batch_layout_.sequences)
    reports.emplace_back(chunk_of(sequence.length - 1, sequence.range) + 1);
  for (const RunOutcome& outcome : outcomes) {
    const std::size_t i = wide(outcome.sequence);
    add_run(outcome, reports[i][chunk_of(outcome.range.begin, batch_layout_.sequences[i].range)]);
  }
  return reports;
}

template <class Real>
std::vector<SequenceResult> CudaEngine<Real>::log_partitions(std::span<const ScoreWindow> sequences) {
  std::vector<SequenceResult> results;
  while (results.size() < sequences.size()) {
    const std::size_t first = results.size();
    const std::size_t end = batch_end(sequences, first, BatchOutput::kLogPartitions);
    if (end <= first + 1) {
      results.push_back(std::move(OneByOne(*this).log_partitions(sequences.subspan(first, 1)).front()));
      continue;
    }
    upload_batch(sequences.subspan(first, end - first), false);
    const std::vector<RunOutcome> outcomes = forward_batch_pass();
    std::vector<std::vector<ChunkReport>> reports = batch_reports(outcomes);
    for (const RunOutcome& outcome : outcomes) {
      if (!ends_sequence(outcome)) continue;
      const std::size_t i = wide(outcome.sequence);
      results.push_back({log_sum(batch_final_state(*log_forward_, outcome)), std::move(reports[i])});
    }
  }
  return results;
}

// Where the messages of the batch lie: its rows are taken for the positions of one window.
template <class Real>
void CudaEngine<Real>::place_batch(const std::vector<RunOutcome>& outcomes, TracePlaces& places) {
  const std::vector<BlockOrigin> origins = run_origins(outcomes);
  std::vector<BlockOrigin> runs;  // per block
  std::vector<int> sequence_of;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    const auto blocks = wide(ceil_div<std::int64_t>(outcomes[i].range.size(), kBlock));
    runs.insert(runs.end(), blocks, origins[i]);
    sequence_of.insert(sequence_of.end(), blocks, outcomes[i].sequence);
  }
  places.runs.upload(runs, stream_);
  places.sequence_of.upload(sequence_of, stream_);
  places.reserve(runs.size(), wide(model_.num_labels));
}

template <class Real>
std::vector<RunOutcome> CudaEngine<Real>::sweep_batch(StoreBuffers<Real>& store) {
  const Work work = batch_work();
  store.reserve(work.plan.layout.tokens, model_.num_labels, model_.has_tail(), true);
  return max_forward().run(work.plan, work.sequences, nullptr, &store);
}

// The paths of the sequences that have one, in one piece each as long as there are enough of them.
template <class Real>
std::vector<std::span<const TraceRecord>> CudaEngine<Real>::trace_batch(
    const std::vector<RunOutcome>& outcomes, const StoreBuffers<Real>& store) {
  if (!trace_buffers_) trace_buffers_ = std::make_shared<TraceBuffers>();
  TracePlaces& places = *unused(trace_places_);
  place_batch(outcomes, places);
  prepare_traceback(max_forward().chain().host(), *trace_buffers_, stream_);
  TraceParameters<Real> p =
      trace_parameters(max_forward().chain().view(), store.view(), places, *trace_buffers_);
  p.sequence = batch_.common_rows();
  p.batch = batch_.on_device();
  p.sequence_of = places.sequence_of.get();
  p.range_end = batch_layout_.rows();
  p.run = kBlock;
  place_blocks(p, stream_);

  PathFollower<Real> follower(trace_buffers_, stream_);
  follower.begin();
  const TraceCut pieces = trace_cut(batch_layout_.rows(), model_.max_duration);
  std::vector<std::size_t> traced;  // sequences
  for (const RunOutcome& outcome : outcomes) {
    if (!ends_sequence(outcome)) continue;
    int label = 0;
    if (best_final_score(batch_final_state(*max_forward_, outcome), &label) == kNegativeInfinity) continue;
    traced.push_back(wide(outcome.sequence));
    const PlacedSequence& sequence = batch_layout_.sequences[traced.back()];
    follower.add({sequence.first_row + sequence.length, 0, TracePhase::kFindStart, label}, sequence.first_row,
                 true, pieces);
  }
  PinnedBuffer<TraceRecord>& host = trace_buffers_->parts[0];
  host.reserve(wide(batch_layout_.rows()));
  follower.follow(p, host.get());
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(trace_buffers_->down.get()));
  std::vector<std::span<const TraceRecord>> paths(batch_layout_.sequences.size());
  const TraceRecord* at = host.get();
  for (std::size_t n = 0; n < traced.size(); ++n) {
    paths[traced[n]] = {at, wide(follower.segments_of(n))};
    at += follower.segments_of(n);
  }
  return paths;
}

template <class Real>
std::vector<std::span<const TraceRecord>> CudaEngine<Real>::viterbi_batch_pass() {
  StoreBuffers<Real>& store = *unused(viterbi_store_);
  end_stage("");
  const std::vector<RunOutcome> outcomes = sweep_batch(store);
  end_stage("sweep");
  std::vector<std::span<const TraceRecord>> paths = trace_batch(outcomes, store);
  end_stage("traceback");
  return paths;
}

template <class Real>
std::vector<SequencePath> CudaEngine<Real>::viterbi_of(std::span<const ScoreWindow> sequences) {
  std::vector<SequencePath> paths;
  while (paths.size() < sequences.size()) {
    const std::size_t first = paths.size();
    const std::size_t end = batch_end(sequences, first, BatchOutput::kPaths);
    if (end <= first + 1) {
      paths.push_back(std::move(OneByOne(*this).viterbi_of(sequences.subspan(first, 1)).front()));
      continue;
    }
    upload_batch(sequences.subspan(first, end - first), false);
    StoreBuffers<Real>& store = *unused(viterbi_store_);
    const std::vector<RunOutcome> outcomes = sweep_batch(store);
    std::vector<std::vector<ChunkReport>> reports = batch_reports(outcomes);
    const std::vector<std::span<const TraceRecord>> packed = trace_batch(outcomes, store);
    for (std::size_t i = 0; i < packed.size(); ++i) {
      SequencePath& path = paths.emplace_back();
      path.feasible = !packed[i].empty();
      path.chunks = std::move(reports[i]);
      unpack(packed[i], sequences[first + i].length, path.reversed);
    }
  }
  return paths;
}

template <class Real>
std::vector<SequenceResult> CudaEngine<Real>::posteriors_of(std::span<const ScoreWindow> sequences,
                                                            std::span<const PosteriorArrays> out,
                                                            ExpectedCounts* counts) {
  std::vector<SequenceResult> results;
  while (results.size() < sequences.size()) {
    const std::size_t first = results.size();
    const std::size_t end =
        batch_end(sequences, first, counts != nullptr ? BatchOutput::kCounts : BatchOutput::kPosteriors, out);
    if (end <= first + 1) {
      results.push_back(std::move(
          OneByOne(*this).posteriors_of(sequences.subspan(first, 1), out.subspan(first, 1), counts).front()));
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
      if (!ends_sequence(outcome)) continue;
      results.push_back({log_sum(batch_final_state(*log_forward_, outcome)),
                         std::move(sweeps.chunks[wide(outcome.sequence)])});
    }
    download_posteriors(batch_layout_, arrays);
  }
  return results;
}

#define SEMICRF_INSTANTIATE(Real)                                                                      \
  template std::int64_t CudaEngine<Real>::batch_positions() const;                                     \
  template void CudaEngine<Real>::upload_batch(std::span<const ScoreWindow>, bool);                    \
  template std::vector<RunOutcome> CudaEngine<Real>::forward_batch_pass();                             \
  template std::vector<std::span<const TraceRecord>> CudaEngine<Real>::viterbi_batch_pass();           \
  template void CudaEngine<Real>::posterior_batch_pass(const PosteriorArrays&);                        \
  template std::vector<SequenceResult> CudaEngine<Real>::log_partitions(std::span<const ScoreWindow>); \
  template std::vector<SequencePath> CudaEngine<Real>::viterbi_of(std::span<const ScoreWindow>);       \
  template std::vector<SequenceResult> CudaEngine<Real>::posteriors_of(                                \
      std::span<const ScoreWindow>, std::span<const PosteriorArrays>, ExpectedCounts*);
SEMICRF_INSTANTIATE(float)
SEMICRF_INSTANTIATE(double)
#undef SEMICRF_INSTANTIATE

}  // namespace semicrf::cuda
