// The engine of one precision on one device.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cuda/counts/counts_pass.h"
#include "cuda/engine/device_needs.h"
#include "cuda/heads/head_sums.h"
#include "cuda/passes/chunk_pass.h"
#include "cuda/posteriors/posterior_launch.h"
#include "cuda/scores/batch_scores.h"
#include "cuda/viterbi/viterbi_messages.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "engine/engine.h"

namespace semicrf::cuda {

template <class Real>
class CudaEngine final : public Engine, public DeviceMemory, public SequenceBatches {
 public:
  // `memory`: bytes of the device that windows may take; `threads`: of the host, that bring scores up.
  CudaEngine(ChainModel model, int device, const std::string& device_name, std::size_t shared_limit,
             std::size_t memory = std::size_t{1} << 40, int threads = 1);
  ~CudaEngine() override;
  CudaEngine(const CudaEngine&) = delete;
  CudaEngine& operator=(const CudaEngine&) = delete;

  std::size_t viterbi_bytes(std::int64_t positions, bool keep_messages) const override;
  std::size_t posterior_bytes(std::int64_t positions, bool counts) const override;
  std::size_t device_memory() const override { return memory_; }
  std::size_t viterbi_device_bytes(const WindowShape& shape) const override;
  std::size_t posterior_device_bytes(const WindowShape& shape, bool counts) const override;
  bool joins_windows(const WindowShape& shape) const override;
  std::unique_ptr<ScorePrefetch> prefetch(const ScoreWindow& whole) override;

  ViterbiWindow viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        bool keep_messages) override;
  PosteriorWindow posteriors(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const BoundaryState* right, const PosteriorArrays& out) override;
  ForwardWindow forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        const ForwardArrays& out) override;

  // A window within its sequence that was computed last, without the state at its left edge: puts it on the
  // scale of that state. False where that is not what was warmed up: then it must be computed again.
  bool join(ViterbiWindow& window, const BoundaryState& left);
  bool join(PosteriorWindow& window, const BoundaryState& left);
  int device() const { return device_; }

  std::int64_t batch_positions() const override;
  std::vector<SequenceResult> log_partitions(std::span<const ScoreWindow> sequences) override;
  std::vector<SequencePath> viterbi_of(std::span<const ScoreWindow> sequences) override;
  std::vector<SequenceResult> posteriors_of(std::span<const ScoreWindow> sequences,
                                            std::span<const PosteriorArrays> out,
                                            ExpectedCounts* counts) override;

  // The same in steps, for measurements: scores to the device; then passes over them without their outputs.
  void upload(const ScoreWindow& scores);
  void upload_batch(std::span<const ScoreWindow> sequences, bool with_marks);
  std::vector<RunOutcome> forward_batch_pass();
  // What viterbi_path() gives of one sequence, of every sequence of the batch; none where there is no path.
  std::vector<std::span<const TraceRecord>> viterbi_batch_pass();
  void posterior_batch_pass(const PosteriorArrays& wanted);
  std::vector<RunOutcome> forward_pass(const ScoreWindow& scores, PositionRange range);
  // Right to left, 8 bytes a segment, in pinned memory; valid until the next call.
  std::span<const TraceRecord> viterbi_path(const ScoreWindow& scores);
  void posterior_pass(const ScoreWindow& scores, PositionRange range, const PosteriorArrays& wanted);
  void repeat_forward_kernel();
  // From now on adds the seconds of every stage of posterior_pass to `seconds`; the stages then wait for each
  // other.
  void time_stages(std::map<std::string, double>* seconds) { stage_seconds_ = seconds; }

 private:
  using LogPass = ChunkPass<Real, LogSemiring>;
  using MaxPass = ChunkPass<Real, MaxSemiring>;

  // Messages that are kept live as long as the window; what comes next gets memory of its own.
  template <class Buffers>
  static const std::shared_ptr<Buffers>& unused(std::shared_ptr<Buffers>& buffers) {
    if (!buffers || buffers.use_count() > 1) buffers = std::make_shared<Buffers>();
    return buffers;
  }
  static EngineInfo describe(ChainModel model, int device, const std::string& device_name);
  static double tolerance() { return sizeof(Real) == sizeof(float) ? 1e-5 : 1e-11; }
  // How a sequence, or a window of it, is cut.
  PlacedSequence cut(std::int64_t length, PositionRange range, bool with_marks) const;
  PassPlan plan_for(const ScoreWindow& scores, PositionRange range, Direction direction,
                    bool with_marks) const;
  static void add_run(const RunOutcome& outcome, ChunkReport& chunk) {
    chunk.fallbacks += outcome.report.fallbacks;
    chunk.repaired = chunk.repaired || outcome.repaired;
  }
  std::vector<ChunkReport> reports_of(PositionRange range, const std::vector<RunOutcome>& outcomes) const;
  std::size_t chunk_of(std::int64_t position, PositionRange range) const {
    return static_cast<std::size_t>((position - range.begin) / grid_.chunk);
  }
  template <class Semiring>
  BoundaryState final_state(const ChunkPass<Real, Semiring>& pass, const RunOutcome& last,
                            std::int64_t boundary) const {
    BoundaryState state = pass.download_state(last.last_state, boundary);
    state.whole += last.whole;
    state.offset += last.offset;
    return state;
  }
  // What passes work on: a window, or the sequences of a batch.
  struct Work {
    PassPlan plan;                            // of either direction
    const SequenceView* sequences = nullptr;  // on the device
    bool subtract_position_max = false;
    HeadRequest heads;  // sums over features that are wanted with the posteriors
  };
  struct Sweeps {
    std::vector<RunOutcome> forward, backward;
    std::vector<std::vector<ChunkReport>> chunks;  // of every sequence
  };
  std::vector<AnchorTask> anchor_tasks(const Work& work) const;
  void prepare_tables(bool counts);
  void find_all_anchors(const std::vector<AnchorTask>& tasks);
  // `messages`: null: nothing is kept.
  ViterbiWindow viterbi_window(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                               std::unique_ptr<CudaViterbiMessages<Real>>* messages);
  PosteriorWindow compute_posteriors(const ScoreWindow& scores, PositionRange range,
                                     const BoundaryState* left, const BoundaryState* right,
                                     const PosteriorArrays& out);
  Sweeps sweep(const Work& work, const BoundaryState* left, const BoundaryState* right,
               const PosteriorArrays& wanted);
  void use_messages(const Work& work, const PosteriorArrays& wanted);
  void combine_all(std::size_t tasks, const Work& work, const PosteriorArrays& wanted);
  void add_reports(const Work& work, Sweeps& sweeps) const;
  void count_all(const std::vector<AnchorTask>& tasks, const Work& work, const ExpectedCounts& counts);
  void sum_heads(const Work& work);
  // What is wanted of a window, and of the sequences of a batch that lies on the device.
  HeadRequest head_request(const ScoreWindow& scores, ExpectedFeatures* features);
  HeadRequest batch_head_request(std::span<const ScoreWindow> sequences,
                                 std::span<const PosteriorArrays> out) const;
  Work batch_work() const;
  // Of runs of a batch.
  bool ends_sequence(const RunOutcome& outcome) const {
    return outcome.range.end == batch_layout_.sequences[static_cast<std::size_t>(outcome.sequence)].range.end;
  }
  // Where the sequence ends whose last run this is; the message alone.
  template <class Semiring>
  BoundaryState batch_final_state(const ChunkPass<Real, Semiring>& pass, const RunOutcome& last) const {
    BoundaryState state = pass.final_message(static_cast<std::size_t>(last.sequence));
    state.whole += last.whole;
    state.offset += last.offset;
    return state;
  }
  std::vector<std::vector<ChunkReport>> batch_reports(const std::vector<RunOutcome>& outcomes) const;
  std::vector<RunOutcome> sweep_batch(StoreBuffers<Real>& store);
  void place_batch(const std::vector<RunOutcome>& outcomes, TracePlaces& places);
  std::vector<std::span<const TraceRecord>> trace_batch(const std::vector<RunOutcome>& outcomes,
                                                        const StoreBuffers<Real>& store);
  void download_rows(const DeviceBuffer<Real>& from, std::size_t columns, const SequenceLayout& layout,
                     std::span<double* const> to);
  void download_posteriors(const SequenceLayout& layout, std::span<const PosteriorArrays> out);
  std::size_t batch_end(std::span<const ScoreWindow> sequences, std::size_t first, BatchOutput output,
                        std::span<const PosteriorArrays> out = {}) const;
  void write_forward(const ScoreWindow& scores, PositionRange range, const std::vector<RunOutcome>& outcomes,
                     std::int64_t run, const ForwardArrays& out, double whole);
  void end_stage(const char* name);
  LogPass& log_forward();
  LogPass& log_backward();
  MaxPass& max_forward();

  class Prefetch;
  ModelShape model_shape() const;
  std::size_t score_bytes(const ScoreWindow& scores) const;
  std::size_t feature_bytes(const ScoreWindow& scores) const;
  bool keeps(const ScoreWindow& scores) const;
  // A window whose memory may be overwritten, except by rows of the sequence it holds.
  void free_window(const ScoreWindow& scores);

  const ChainModel& model_ = model();
  int device_;
  std::size_t memory_;
  int threads_;
  RunGrid grid_;
  TileConfig tile_;
  // The backward pass runs beside the forward one.
  cudaStream_t stream_ = nullptr, backward_stream_ = nullptr;
  Event scores_ready_, backward_done_;
  std::unique_ptr<LogPass> log_forward_, log_backward_;
  std::unique_ptr<MaxPass> max_forward_;
  std::unique_ptr<ScoreUpload> copies_;
  std::shared_ptr<DeviceWindow> window_;
  BatchScores batch_;
  SequenceLayout batch_layout_;
  std::shared_ptr<StoreBuffers<Real>> viterbi_store_;
  std::shared_ptr<TracePlaces> trace_places_;
  std::shared_ptr<TraceBuffers> trace_buffers_;
  StoreBuffers<Real> forward_store_, backward_store_;
  std::vector<AnchorTask> tasks_;  // of the last pass of posteriors
  bool cautious_ = false;  // runs of the last pass had to be repaired: the next is judged before it is used
  DeviceBuffer<AnchorTask> anchor_buffer_;
  DeviceBuffer<double> crossing_, z_whole_, z_offset_, z_log_, anchor_numbers_, bias_linear_, largest_bias_,
      norm_log_, piece_sums_, sums_;
  std::unique_ptr<CountsPass<Real>> counts_pass_;
  HeadSums<Real> head_sums_;
  std::map<std::string, double>* stage_seconds_ = nullptr;
  std::chrono::steady_clock::time_point stage_begin_;
  DeviceBuffer<int> anchor_fallbacks_;
  PinnedBuffer<AnchorTask> host_tasks_;
  PinnedBuffer<double> host_sums_;
  PinnedBuffer<int> host_fallbacks_;
  PinnedBuffer<Real> host_rows_[2];
  Event rows_copied_[2];
  DeviceBuffer<Real> boundary_, labels_, starts_, ends_;
};

}  // namespace semicrf::cuda
