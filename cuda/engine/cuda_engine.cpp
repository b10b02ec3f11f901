#include <algorithm>
#include <stdexcept>

#include "core/error.h"
#include "core/sizes.h"
#include "cuda/engine/cuda_engine_impl.h"

namespace semicrf::cuda {
namespace {

// Bytes per position of all arrays of scores, and of the features they are made of.
std::size_t score_bytes(const ScoreWindow& scores, int labels) {
  std::size_t bytes = 0;
  for (const ScoreArray* array : {&scores.emissions, &scores.start_scores, &scores.end_scores})
    bytes += array->f32 != nullptr ? sizeof(float) : (array->f64 != nullptr ? sizeof(double) : 0);
  for (const HeadTable* head : {scores.features.emission, scores.features.start, scores.features.finish})
    bytes += head == nullptr ? 0 : (scores.features.wide ? sizeof(double) : sizeof(float));
  return bytes * wide(labels);
}
std::size_t feature_bytes(const FeatureRows& features) {
  if (features.empty()) return 0;
  const std::size_t value = features.rows.f32 != nullptr ? sizeof(float) : sizeof(double);
  return wide(features.tracks) * value + (features.true_labels != nullptr ? sizeof(int) : 0);
}

bool same_heads(const FeatureRows& a, const FeatureRows& b) {
  return a.tracks == b.tracks && a.wide == b.wide && a.emission == b.emission && a.start == b.start &&
         a.finish == b.finish && a.margin == b.margin &&
         (a.true_labels == nullptr) == (b.true_labels == nullptr);
}

bool same_arrays(const ScoreWindow& a, const ScoreWindow& b) {
  const auto same = [](const ScoreArray& x, const ScoreArray& y) {
    return (x.f32 != nullptr) == (y.f32 != nullptr) && (x.f64 != nullptr) == (y.f64 != nullptr) &&
           x.on_device == y.on_device;
  };
  return same(a.emissions, b.emissions) && same(a.start_scores, b.start_scores) &&
         same(a.end_scores, b.end_scores) && a.baseline.empty() == b.baseline.empty() &&
         a.subtract_position_max == b.subtract_position_max && same(a.features.rows, b.features.rows) &&
         same_heads(a.features, b.features);
}

template <class Real>
EngineInfo describe(ChainModel model, int device, const std::string& device_name) {
  const RunGrid grid = run_grid(model.max_duration);
  constexpr bool kSingle = sizeof(Real) == sizeof(float);
  EngineInfo info;
  info.name = "cuda";
  info.description = "cuda (" + device_name + ", cuda:" + std::to_string(device) + ", " +
                     (kSingle ? "float" : "double") + ")";
  info.model = std::move(model);
  info.precision = kSingle ? Precision::kFloat : Precision::kDouble;
  info.grid = {grid.chunk, grid.warmup, kTolerance<Real>, kBlock};
  info.projects = true;
  info.cut_edges = true;
  info.counts_by_end = true;
  return info;
}

}  // namespace

template <class Real>
CudaEngine<Real>::CudaEngine(ChainModel model, int device, const std::string& device_name,
                             std::size_t shared_limit, std::size_t memory, int threads,
                             const WorkRules& rules)
    : Engine(describe<Real>(std::move(model), device, device_name), this, *this),
      context_(this->model(), sizeof(Real), device, shared_limit, memory, threads, rules),
      viterbi_(context_),
      forward_(context_),
      posteriors_(context_, forward_) {}

template <class Real>
ChunkGrid CudaEngine<Real>::grid(std::int64_t length) const {
  ChunkGrid grid = this->info().grid;
  grid.chunk = cut_into_runs(context_.grid, length, context_.teams).chunk;
  return grid;
}

// Bytes of the host: pinned buffers of scores and paths, and what is known of the pieces of a path.
template <class Real>
std::size_t CudaEngine<Real>::viterbi_bytes(std::int64_t positions, bool keep_messages) const {
  constexpr std::size_t kPerThread = std::size_t{2} << 20;
  constexpr std::size_t kPaths = std::size_t{16} << 20;
  constexpr std::size_t kPiece = 256;
  const std::size_t pieces = wide(positions / context_.grid.unit + 1) * kPiece;
  return wide(context_.threads) * kPerThread + (keep_messages ? kPaths : 0) + pieces;
}
// Bytes of the host: as for Viterbi, and the rows that forward() and posteriors() convert there.
template <class Real>
std::size_t CudaEngine<Real>::posterior_bytes(std::int64_t positions, bool) const {
  constexpr std::size_t kRows = std::size_t{16} << 20;
  return viterbi_bytes(positions, false) + kRows;
}
template <class Real>
std::size_t CudaEngine<Real>::viterbi_device_bytes(const WindowShape& shape) const {
  return viterbi_need(context_.shape(), context_.grid, shape, context_.memory);
}
template <class Real>
std::size_t CudaEngine<Real>::posterior_device_bytes(const WindowShape& shape, bool counts) const {
  return posterior_need(context_.shape(), context_.grid, shape, counts, context_.memory);
}
template <class Real>
bool CudaEngine<Real>::joins_windows(const WindowShape& shape) const {
  return joins_neighbours(context_.shape(), shape, context_.memory);
}

template <class Real>
bool CudaEngine<Real>::keeps(const ScoreWindow& scores, std::size_t feature_bytes) const {
  const std::int64_t rows = scores.end - scores.begin;
  const std::size_t bytes = score_bytes(scores, context_.model.num_labels) + feature_bytes;
  return scores.sequence != 0 && keeps_sequence({scores.length, rows, rows, bytes}, context_.memory);
}

// Messages that are still traced through read the scores they were computed from: these may only grow by rows
// of the same sequence.
template <class Real>
SequenceScores& CudaEngine<Real>::free_window(const ScoreWindow& scores) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(context_.device));
  const bool in_use = window_.use_count() > 1;
  if (!window_ || (in_use && !(keeps(scores) && window_->holds_sequence(scores)))) {
    if (window_) window_->end_prefetch();
    window_ =
        std::make_shared<SequenceScores>(context_.model.num_labels, context_.copies, context_.stream.get());
  }
  return *window_;
}

template <class Real>
PassInput CudaEngine<Real>::window(const ScoreWindow& scores, PositionRange range, bool with_marks) {
  free_window(scores).upload({&scores, 1}, keeps(scores));
  window_->hide_cut_edges(context_.model.cut);
  return {SequenceLayout(context_.cut(scores.length, range, with_marks)), window_};
}

template <class Real>
PassInput CudaEngine<Real>::batch(std::span<const ScoreWindow> sequences, bool with_marks) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(context_.device));
  if (!batch_)
    batch_ = std::make_shared<SequenceScores>(context_.model.num_labels, context_.batch_copies,
                                              context_.stream.get());
  std::vector<PlacedSequence> whole;
  whole.reserve(sequences.size());
  for (const ScoreWindow& sequence : sequences)
    whole.push_back(context_.cut(sequence.length, {0, sequence.length}, with_marks));
  batch_->upload(sequences, false);
  batch_->hide_cut_edges(context_.model.cut);
  return {SequenceLayout(std::move(whole)), batch_};
}

// The prefetch of the sequence with this number, as long as the engine's window holds it.
template <class Real>
class CudaEngine<Real>::Prefetch final : public ScorePrefetch {
 public:
  Prefetch(CudaEngine& engine, std::uint64_t sequence) : engine_(engine), sequence_(sequence) {}
  ~Prefetch() override {
    if (holds()) engine_.window_->end_prefetch();
  }
  bool sound(std::int64_t end) override { return on_device() && engine_.window_->sound(end); }
  std::optional<BlockSums> block_sums(double mask) override {
    if (!on_device()) return std::nullopt;
    return engine_.window_->block_sums(mask);
  }

 private:
  bool holds() const { return engine_.window_ && engine_.window_->sequence() == sequence_; }
  bool on_device() const {
    SEMICRF_CUDA_CHECK(cudaSetDevice(engine_.context_.device));
    return holds();
  }

  CudaEngine& engine_;
  std::uint64_t sequence_;
};

template <class Real>
std::unique_ptr<ScorePrefetch> CudaEngine<Real>::prefetch(const ScoreWindow& whole) {
  if (!keeps(whole, feature_bytes(whole.features)) || whole.features.true_labels != nullptr) return nullptr;
  free_window(whole).prefetch(whole);
  return std::make_unique<Prefetch>(*this, whole.sequence);
}

template <class Real>
void CudaEngine<Real>::begin_after(void* stream) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(context_.device));
  order_.record(static_cast<cudaStream_t>(stream));
  order_.make_wait(context_.stream.get());
}
template <class Real>
void CudaEngine<Real>::finish_before(void* stream) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(context_.device));
  order_.record(context_.stream.get());
  order_.make_wait(static_cast<cudaStream_t>(stream));
}

// Passes wait for the stream, and the checks with it; numbers that are none may end a pass.
template <class Real>
template <class Compute>
auto CudaEngine<Real>::with_sound_scores(std::span<const ScoreWindow> sequences, Compute compute) {
  if (!sequences.front().emissions.on_device) return compute();
  const auto check = [&] {
    const SequenceScores& scores = sequences.size() > 1 ? *batch_ : *window_;
    if (!scores.copied_sound()) throw InputError({"scores", "", "a value is NaN or +inf", ""});
  };
  try {
    auto results = compute();
    check();
    return results;
  } catch (const std::logic_error&) {
    check();
    throw;
  }
}

template <class Real>
ViterbiWindow CudaEngine<Real>::viterbi(const ScoreWindow& scores, PositionRange range,
                                        const BoundaryState* left, bool keep_messages) {
  this->expect_no_cut_edges();
  return viterbi_.window(window(scores, range, false), left, keep_messages);
}

template <class Real>
ViterbiWindow CudaEngine<Real>::viterbi_beside(const ScoreWindow& scores, PositionRange range,
                                               const StateOnLeft& left, bool keep_messages) {
  ViterbiWindow result = viterbi(scores, range, nullptr, keep_messages);
  const BoundaryState truth = left();
  if (viterbi_.join(result, truth)) return result;
  result.messages.reset();  // so that its memory is used again
  return viterbi(scores, range, &truth, keep_messages);
}

template <class Real>
ForwardWindow CudaEngine<Real>::forward(const ScoreWindow& scores, PositionRange range,
                                        const BoundaryState* left, const ForwardArrays& out) {
  return forward_.window(window(scores, range, false), scores, left, out);
}

template <class Real>
PosteriorWindow CudaEngine<Real>::posteriors(const ScoreWindow& scores, PositionRange range,
                                             const BoundaryState* left, const BoundaryState* right,
                                             const PosteriorArrays& out) {
  PosteriorWork work{window(scores, range, true), {&out, 1}, {}, head_request({&scores, 1}, {&out, 1})};
  if (out.counts != nullptr) work.counts.push_back(out.counts);
  if (!work.heads.targets.empty()) work.heads.features = window_->features({&scores, 1});
  return posteriors_.window(work, left, right);
}

template <class Real>
PosteriorWindow CudaEngine<Real>::posteriors_beside(const ScoreWindow& scores, PositionRange range,
                                                    const StateOnLeft& left, const BoundaryState* right,
                                                    const PosteriorArrays& out) {
  PosteriorWindow result = posteriors(scores, range, nullptr, right, out);
  const BoundaryState truth = left();
  return posteriors_.join(result, truth) ? result : posteriors(scores, range, &truth, right, out);
}

// Enough for a card, and not too much for the host.
template <class Real>
std::int64_t CudaEngine<Real>::batch_positions() const {
  constexpr std::int64_t kRuns = 128;
  return std::clamp<std::int64_t>(kRuns * context_.grid.unit, std::int64_t{1} << 18, std::int64_t{1} << 20);
}

// The end of those that are computed together with sequences[first]: as many as follow it and fit the memory.
// Longer ones fill the card by themselves, and are computed alone. `out`: the posteriors that are wanted,
// empty: none.
template <class Real>
std::size_t CudaEngine<Real>::batch_end(std::span<const ScoreWindow> sequences, std::size_t first,
                                        BatchOutput output, std::span<const PosteriorArrays> out) const {
  const int labels = context_.model.num_labels;
  BatchShape shape;
  shape.score_bytes = score_bytes(sequences[first], labels) + feature_bytes(sequences[first].features);
  const bool with_marks = output == BatchOutput::kPosteriors || output == BatchOutput::kCounts;
  if (!out.empty()) {
    const HeadRequest heads = head_request(sequences.subspan(first), out.subspan(first));
    if (!heads.targets.empty()) shape.head_sum_entries = head_sum_entries(heads, labels);
  }
  std::size_t end = first;
  // Paths are followed in pieces only where a sequence is alone.
  const auto joins = output == BatchOutput::kPaths ? is_short : leaves_room;
  while (end < sequences.size() && joins(context_.grid, sequences[end].length, context_.teams) &&
         same_arrays(sequences[first], sequences[end])) {
    const std::int64_t length = sequences[end].length;
    const PlacedSequence sequence = context_.cut(length, {0, length}, with_marks);
    shape.rows += ceil_div<std::int64_t>(length, kBlock) * kBlock;
    shape.runs += ceil_div(length, sequence.cut.run);
    shape.states += ceil_div(length, sequence.cut.run) + ceil_div(length, sequence.cut.mark);
    ++shape.sequences;
    if (end > first && batch_need(context_.shape(), shape, output) > context_.memory) break;
    ++end;
  }
  return std::max(end, first + 1);
}

template <class Real>
std::vector<SequenceResult> CudaEngine<Real>::log_partitions(std::span<const ScoreWindow> sequences) {
  std::vector<SequenceResult> results;
  while (results.size() < sequences.size()) {
    const std::size_t first = results.size();
    const auto these =
        sequences.subspan(first, batch_end(sequences, first, BatchOutput::kLogPartitions) - first);
    for (SequenceResult& result : with_sound_scores(these, [&] {
           return these.size() == 1 ? OneByOne(*this).log_partitions(these)
                                    : forward_.log_partitions(batch(these, false));
         }))
      results.push_back(std::move(result));
  }
  return results;
}

template <class Real>
std::vector<SequencePath> CudaEngine<Real>::viterbi_of(std::span<const ScoreWindow> sequences) {
  this->expect_no_cut_edges();
  std::vector<SequencePath> paths;
  while (paths.size() < sequences.size()) {
    const std::size_t first = paths.size();
    const auto these = sequences.subspan(first, batch_end(sequences, first, BatchOutput::kPaths) - first);
    if (these.size() == 1) {
      paths.push_back(std::move(OneByOne(*this).viterbi_of(these).front()));
      continue;
    }
    const PassInput input = batch(these, false);
    DeviceContext::Reports reports = viterbi_.compute_messages(input);
    const std::vector<typename ViterbiPass<Real>::Path> packed = viterbi_.trace(input);
    for (std::size_t i = 0; i < packed.size(); ++i) {
      SequencePath& path = paths.emplace_back();
      path.feasible = !packed[i].empty();
      path.chunks = std::move(reports[i]);
      RecordReader(these[i].length).read(packed[i], path.reversed);
    }
  }
  return paths;
}

template <class Real>
std::vector<SequenceResult> CudaEngine<Real>::posteriors_of(std::span<const ScoreWindow> sequences,
                                                            std::span<const PosteriorArrays> out,
                                                            ExpectedCounts* counts) {
  const bool counting = counts != nullptr || (!out.empty() && out.front().counts != nullptr);
  const BatchOutput output = counting ? BatchOutput::kCounts : BatchOutput::kPosteriors;
  const auto compute = [&](std::span<const ScoreWindow> these, std::span<const PosteriorArrays> arrays) {
    if (these.size() == 1) return OneByOne(*this).posteriors_of(these, arrays, counts);
    PosteriorWork work{batch(these, true), arrays, {}, head_request(these, arrays)};
    for (const PosteriorArrays& one : arrays)
      if (counting) work.counts.push_back(counts != nullptr ? counts : one.counts);
    if (!work.heads.targets.empty()) work.heads.features = batch_->features(these);
    return posteriors_.sequences(work);
  };
  std::vector<SequenceResult> results;
  while (results.size() < sequences.size()) {
    const std::size_t first = results.size();
    const std::size_t count = batch_end(sequences, first, output, out) - first;
    const std::span<const ScoreWindow> these = sequences.subspan(first, count);
    for (SequenceResult& result :
         with_sound_scores(these, [&] { return compute(these, out.subspan(first, count)); }))
      results.push_back(std::move(result));
  }
  return results;
}

template class CudaEngine<float>;
template class CudaEngine<double>;

}  // namespace semicrf::cuda
