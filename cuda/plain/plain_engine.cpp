#include "cuda/plain/plain_engine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>
#include <vector>

#include "core/chain_model.h"
#include "core/sizes.h"
#include "cuda/device/cuda_check.h"
#include "cuda/plain/plain_workspace.h"
#include "engine/batch.h"
#include "engine/boundary_state.h"
#include "engine/device_memory.h"

namespace semicrf::cuda {
namespace {

// Covers any sequence and leaves room for callers to multiply.
constexpr std::int64_t kWholeSequence = std::numeric_limits<std::int64_t>::max() / 4;
constexpr std::size_t kSlab = std::size_t{1} << 16;       // numbers that are fetched at a time
constexpr std::size_t kHostBytes = std::size_t{8} << 20;  // slabs and segments on their way

double clamped(double probability) { return std::clamp(probability, 0.0, 1.0); }
double plogp(double probability) { return probability > 0 ? probability * std::log(probability) : 0.0; }

// The state of the boundary with this level, from what find_state() left.
BoundaryState fetched_state(const PlainWorkspace& work, std::int64_t boundary, const double* level) {
  const PlainSequence& sequence = work.arrays().sequence;
  const PlainState& found = work.arrays().state;
  const std::size_t labels = wide(sequence.labels);
  BoundaryState state;
  state.boundary = boundary;
  work.fetch(level, 1, &state.offset);
  state.ring = work.fetch(found.ring, wide(sequence.max_duration) * labels);
  state.message = work.fetch(found.message, labels);
  if (found.tail != nullptr) state.tail = work.fetch(found.tail, labels);
  return normalised(std::move(state));
}

BoundaryState state_at_end(const PlainWorkspace& work) {
  const PlainArrays& arrays = work.arrays();
  find_state(arrays.sequence, arrays.forward, arrays.state, work.stream());
  return fetched_state(work, arrays.sequence.length, arrays.forward.level + arrays.sequence.length);
}

BoundaryState state_at_begin(const PlainWorkspace& work) {
  const PlainArrays& arrays = work.arrays();
  find_state(arrays.sequence, arrays.backward, arrays.state, work.stream());
  return fetched_state(work, 0, arrays.backward.level);
}

// log Z from the segments that start at 0, since one does.
PlainLogPartition log_partition_of(const PlainWorkspace& work) {
  const PlainArrays& arrays = work.arrays();
  const std::size_t labels = wide(arrays.sequence.labels);
  const std::vector<double> before = work.fetch(arrays.forward.gamma, labels);
  const std::vector<double> after = work.fetch(arrays.backward.delta, labels);
  PlainLogPartition result{work.fetch(arrays.forward.level, 1)[0] + work.fetch(arrays.backward.level, 1)[0],
                           kNegativeInfinity};
  for (std::size_t c = 0; c < labels; ++c) result.log_mass = log_add(result.log_mass, before[c] + after[c]);
  return result;
}

class PlainMessages final : public ViterbiMessages {
 public:
  PlainMessages(PlainWorkspace work, int device) : work_(std::move(work)), device_(device) {}

  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override {
    SEMICRF_CUDA_CHECK(cudaSetDevice(device_));
    const PlainArrays& arrays = work_.arrays();
    PlainPath path{cursor, 0};
    upload_bytes(arrays.path, &path, sizeof path, work_.stream());
    run_traceback(arrays.sequence, arrays.forward, arrays.path, arrays.segments, work_.stream());
    fetch(arrays.path, 1, &path);
    if (path.count < 0) throw std::logic_error("a traceback was started where no path is finite");
    const std::size_t found = reversed.size();
    reversed.resize(found + wide(path.count));
    fetch(arrays.segments, wide(path.count), reversed.data() + found);
    cursor = path.cursor;
    return cursor.phase != TraceCursor::Phase::kDone;
  }

 private:
  template <class T>
  void fetch(const T* from, std::size_t count, T* to) const {
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(T), cudaMemcpyDeviceToHost, work_.stream()));
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(work_.stream()));
  }

  PlainWorkspace work_;
  int device_;
};

EngineInfo describe(ChainModel model, int device, const std::string& device_name) {
  EngineInfo info;
  info.name = "cuda-plain";
  info.description = "cuda-plain (" + device_name + ", cuda:" + std::to_string(device) +
                     ", log domain, double, one thread per label)";
  info.model = std::move(model);
  info.precision = Precision::kDouble;
  info.grid = {kWholeSequence, 0, 0.0};
  info.best_messages = true;
  return info;
}

class PlainEngine final : public Engine, public DeviceMemory {
 public:
  PlainEngine(ChainModel model, int device, const std::string& device_name, std::size_t memory)
      : Engine(describe(std::move(model), device, device_name), this, one_by_one_),
        device_(device),
        memory_(memory) {}

  std::size_t viterbi_bytes(std::int64_t, bool) const override { return kHostBytes + 2 * state_bytes(); }
  // forward() may have the levels of all boundaries on the host.
  std::size_t posterior_bytes(std::int64_t positions, bool) const override {
    return viterbi_bytes(positions, false) + (wide(positions) + 1) * sizeof(double);
  }
  std::size_t device_memory() const override { return memory_; }
  std::size_t viterbi_device_bytes(const WindowShape& shape) const override {
    return plain_bytes(model(), shape.length, PlainPass::kPath);
  }
  std::size_t posterior_device_bytes(const WindowShape& shape, bool counts) const override {
    return plain_bytes(model(), shape.length, counts ? PlainPass::kCounts : PlainPass::kPosteriors);
  }
  bool joins_windows(const WindowShape&) const override { return false; }
  std::unique_ptr<ScorePrefetch> prefetch(const ScoreWindow&) override { return nullptr; }

  ViterbiWindow viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        bool keep_messages) override {
    PlainWorkspace work = uploaded(scores, range, left, nullptr, PlainPass::kPath);
    run_forward<false>(work.arrays().sequence, work.arrays().forward, work.stream());
    ViterbiWindow window;
    window.right = state_at_end(work);
    window.chunks.resize(1);
    if (keep_messages) window.messages = std::make_unique<PlainMessages>(std::move(work), device_);
    return window;
  }

  PosteriorWindow posteriors(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const BoundaryState* right, const PosteriorArrays& out) override {
    const bool counts = out.counts != nullptr;
    const PlainWorkspace work =
        uploaded(scores, range, left, right, counts ? PlainPass::kCounts : PlainPass::kPosteriors);
    const PlainArrays& arrays = work.arrays();
    run_forward<true>(arrays.sequence, arrays.forward, work.stream());
    run_backward(arrays.sequence, arrays.backward, work.stream());
    PosteriorWindow window;
    window.right_forward = state_at_end(work);
    window.left_backward = state_at_begin(work);
    window.right_warmed.boundary = range.end;
    const PlainLogPartition log_partition = log_partition_of(work);
    find_posteriors(arrays.sequence, arrays.forward, arrays.backward, log_partition, arrays.posteriors,
                    work.stream());
    window.chunks.push_back(write_posteriors(work, out));
    if (counts) add_counts(work, log_partition, *out.counts);
    return window;
  }

  ForwardWindow forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        const ForwardArrays& out) override {
    const PlainWorkspace work = uploaded(scores, range, left, nullptr, PlainPass::kForward);
    run_forward<true>(work.arrays().sequence, work.arrays().forward, work.stream());
    return forward_window(work, out);
  }
  ForwardWindow best_forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const ForwardArrays& out) override {
    const PlainWorkspace work = uploaded(scores, range, left, nullptr, PlainPass::kForward);
    run_forward<false>(work.arrays().sequence, work.arrays().forward, work.stream());
    return forward_window(work, out);
  }

 private:
  PlainWorkspace uploaded(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                          const BoundaryState* right, PlainPass pass) const {
    const bool whole = scores.begin == 0 && scores.end == scores.length && scores.length > 0 &&
                       range.begin == 0 && range.end == scores.length;
    if (!whole || left != nullptr || right != nullptr)
      throw std::logic_error("the plain CUDA engine takes a whole, non-empty sequence as one window");
    SEMICRF_CUDA_CHECK(cudaSetDevice(device_));
    return {model(), scores, pass, stream_.get()};
  }

  // Writes the posteriors slab by slab, and returns their sums over the sequence.
  ChunkReport write_posteriors(const PlainWorkspace& work, const PosteriorArrays& out) const {
    const std::size_t labels = wide(model().num_labels), length = wide(work.arrays().sequence.length);
    const PlainPosteriors& found = work.arrays().posteriors;
    const std::size_t slab = std::max<std::size_t>(1, kSlab / labels);
    ChunkReport report;
    for (std::size_t first = 0; first < length; first += slab) {
      const std::size_t rows = std::min(slab, length - first), at = first * labels;
      const auto write = [&](const double* from, double* to) {
        std::vector<double> fetched = work.fetch(from + at, rows * labels);
        if (to != nullptr) std::transform(fetched.begin(), fetched.end(), to + at, clamped);
        return fetched;
      };
      const std::vector<double> starts = write(found.starts, out.starts);
      const std::vector<double> covered = write(found.labels, out.labels);
      if (out.ends != nullptr) write(found.ends, out.ends);
      for (std::size_t t = 0; t < rows; ++t) {
        double boundary = 0, sum = 0;
        for (std::size_t c = t * labels; c < (t + 1) * labels; ++c) {
          boundary += starts[c];
          sum += covered[c];
          report.label_entropy -= plogp(clamped(covered[c]));
        }
        if (out.boundary != nullptr) out.boundary[first + t] = clamped(boundary);
        report.boundary_mass += clamped(boundary);
        report.boundary_plogp += plogp(clamped(boundary));
        report.max_normalization_error = std::max(report.max_normalization_error, std::fabs(sum - 1));
      }
    }
    return report;
  }

  void add_counts(const PlainWorkspace& work, const PlainLogPartition& log_partition,
                  ExpectedCounts& counts) const {
    counts.shape_for(model());
    if (log_partition.log_mass == kNegativeInfinity) return;
    const PlainArrays& arrays = work.arrays();
    find_counts(arrays.sequence, arrays.forward, arrays.backward, log_partition, arrays.counts,
                work.stream());
    ExpectedCounts found;
    found.transition = work.fetch(arrays.counts.transition, counts.transition.size());
    found.duration = work.fetch(arrays.counts.duration, counts.duration.size() + wide(model().num_labels));
    // What is longer than K counts as K.
    const std::size_t last = counts.duration.size() - wide(model().num_labels);
    for (std::size_t c = counts.duration.size(); c < found.duration.size(); ++c)
      found.duration[last + c - counts.duration.size()] += found.duration[c];
    found.duration.resize(counts.duration.size());
    if (arrays.counts.tail != nullptr) found.tail = work.fetch(arrays.counts.tail, counts.tail.size());
    counts.add(found);
  }

  ForwardWindow forward_window(const PlainWorkspace& work, const ForwardArrays& out) const {
    const PlainForward& messages = work.arrays().forward;
    const std::size_t labels = wide(model().num_labels), length = wide(work.arrays().sequence.length);
    ForwardWindow window;
    window.right = state_at_end(work);
    window.chunks.resize(1);
    const std::vector<double> levels = work.fetch(messages.level, length + 1);
    const auto write = [&](const double* from, double* to, const double* own_levels, std::size_t shift) {
      if (to == nullptr) return;
      if (from == nullptr) {
        std::fill_n(to, length * labels, kNegativeInfinity);
        return;
      }
      work.fetch(from + shift * labels, length * labels, to);
      for (std::size_t i = 0; own_levels == nullptr && i < length * labels; ++i)
        to[i] += levels[i / labels + shift];
    };
    write(messages.gamma, out.starts, out.start_levels, 0);
    write(messages.alpha, out.ends, out.end_levels, 1);
    write(messages.tail, out.tails, out.end_levels, 1);
    if (out.start_levels != nullptr) std::copy_n(levels.begin(), length, out.start_levels);
    if (out.end_levels != nullptr) std::copy_n(levels.begin() + 1, length, out.end_levels);
    return window;
  }

  std::size_t state_bytes() const {
    return (wide(model().max_duration) + 2) * wide(model().num_labels) * sizeof(double);
  }

  const int device_;
  const std::size_t memory_;
  Stream stream_;
  OneByOne one_by_one_{*this};
};

}  // namespace

std::unique_ptr<Engine> make_plain_engine(ChainModel model, int device, const std::string& device_name,
                                          std::size_t memory) {
  return std::make_unique<PlainEngine>(std::move(model), device, device_name, memory);
}

}  // namespace semicrf::cuda
