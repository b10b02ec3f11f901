// The engine of one precision on one device: uploads scores, and hands them to the passes.
//
// The room: engine/ makes engines, knows what they need of a device, and shares windows over several. It
// includes all other rooms of cuda/; the rest of the program sees cuda_engine.h alone.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/posteriors/posterior_pass.h"
#include "cuda/viterbi/viterbi_pass.h"
#include "engine/batch.h"
#include "engine/device_memory.h"
#include "engine/engine.h"

namespace semicrf::cuda {

template <class Real>
class CudaEngine final : public Engine, public DeviceMemory, public SequenceBatches {
 public:
  // See DeviceContext.
  CudaEngine(ChainModel model, int device, const std::string& device_name, std::size_t shared_limit,
             std::size_t memory = std::size_t{1} << 40, int threads = 1, const WorkRules& rules = {});
  ~CudaEngine() override { context_.end_work(); }

  ChunkGrid grid(std::int64_t length) const override;
  std::size_t viterbi_bytes(std::int64_t positions, bool keep_messages) const override;
  std::size_t posterior_bytes(std::int64_t positions, bool counts) const override;
  std::size_t device_memory() const override { return context_.memory; }
  std::size_t viterbi_device_bytes(const WindowShape& shape) const override;
  std::size_t posterior_device_bytes(const WindowShape& shape, bool counts) const override;
  bool joins_windows(const WindowShape& shape) const override;
  std::unique_ptr<ScorePrefetch> prefetch(const ScoreWindow& whole) override;
  bool takes_device_arrays() const override { return true; }
  void begin_after(void* stream) override;
  void finish_before(void* stream) override;

  ViterbiWindow viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        bool keep_messages) override;
  PosteriorWindow posteriors(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const BoundaryState* right, const PosteriorArrays& out) override;
  ForwardWindow forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        const ForwardArrays& out) override;

  // viterbi() of a window within its sequence whose left neighbour is computed at the same time: it begins
  // with a state that it warms up, and asks for the true one when it is done. The window is put on the scale
  // of that state, or computed again where the two do not agree.
  using StateOnLeft = std::function<BoundaryState()>;
  ViterbiWindow viterbi_beside(const ScoreWindow& scores, PositionRange range, const StateOnLeft& left,
                               bool keep_messages);
  PosteriorWindow posteriors_beside(const ScoreWindow& scores, PositionRange range, const StateOnLeft& left,
                                    const BoundaryState* right, const PosteriorArrays& out);
  int device() const { return context_.device; }

  std::int64_t batch_positions() const override;
  std::vector<SequenceResult> log_partitions(std::span<const ScoreWindow> sequences) override;
  std::vector<SequencePath> viterbi_of(std::span<const ScoreWindow> sequences) override;
  std::vector<SequenceResult> posteriors_of(std::span<const ScoreWindow> sequences,
                                            std::span<const PosteriorArrays> out,
                                            ExpectedCounts* counts) override;

 private:
  class Prefetch;
  // Whether the sequence of a window stays on the device, with so many bytes of features per position.
  bool keeps(const ScoreWindow& scores, std::size_t feature_bytes = 0) const;
  // Memory for a window, which is not read by messages of another one.
  SequenceScores& free_window(const ScoreWindow& scores);
  // Uploads a window, or a batch, for its passes.
  PassInput window(const ScoreWindow& scores, PositionRange range, bool with_marks);
  PassInput batch(std::span<const ScoreWindow> sequences, bool with_marks);
  std::size_t batch_end(std::span<const ScoreWindow> sequences, std::size_t first, BatchOutput output,
                        std::span<const PosteriorArrays> out = {}) const;

  // compute() over sequences; what was wrong with scores that lay on the device.
  template <class Compute>
  auto with_sound_scores(std::span<const ScoreWindow> sequences, Compute compute);

  DeviceContext context_;
  Event order_;  // between streams of callers and the engine's
  std::shared_ptr<SequenceScores> window_, batch_;
  ViterbiPass<Real> viterbi_;
  ForwardPass<Real> forward_;
  PosteriorPass<Real> posteriors_;
};

}  // namespace semicrf::cuda
