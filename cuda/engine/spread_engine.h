// Windows of one sequence over several GPUs: an engine of theirs that gives every one a part of the window.
// For sequences that are most of the work by themselves; others are shared out whole (runs/piece_runner).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cuda/engine/cuda_engine_impl.h"
#include "engine/device_memory.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// All parts of a window are computed at the same time, those but the first from states that they warm up.
// Then, from left to right, each is joined to the true state that the part before it ended with; where the
// two do not agree it is computed again (CudaEngine::viterbi_beside). So the digits are those of one GPU.
template <class Real>
class SpreadEngine final : public Engine, public DeviceMemory {
 public:
  // At least one engine, all of the same model. Parts of fewer chunks would leave a GPU idle, and warm-ups
  // would no longer be a small part of them.
  static constexpr std::int64_t kFewestChunks = 32;
  explicit SpreadEngine(std::vector<std::unique_ptr<CudaEngine<Real>>> engines,
                        std::int64_t fewest_chunks = kFewestChunks);

  ChunkGrid grid(std::int64_t length) const override { return first().grid(length); }
  std::size_t viterbi_bytes(std::int64_t positions, bool keep_messages) const override;
  std::size_t posterior_bytes(std::int64_t positions, bool counts) const override;
  std::size_t device_memory() const override;
  std::size_t viterbi_device_bytes(const WindowShape& shape) const override;
  std::size_t posterior_device_bytes(const WindowShape& shape, bool counts) const override;
  bool joins_windows(const WindowShape&) const override { return false; }
  std::unique_ptr<ScorePrefetch> prefetch(const ScoreWindow&) override { return nullptr; }

  ViterbiWindow viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        bool keep_messages) override;
  // Counts, and sums of features, are added by the first GPU alone.
  PosteriorWindow posteriors(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                             const BoundaryState* right, const PosteriorArrays& out) override;
  // By the first GPU, as are batches of sequences.
  ForwardWindow forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                        const ForwardArrays& out) override {
    return first().forward(scores, range, left, out);
  }

 private:
  struct Part {
    PositionRange range;
    ScoreWindow scores;
  };
  CudaEngine<Real>& first() const { return *engines_.front(); }
  std::vector<Part> parts_of(const ScoreWindow& scores, PositionRange range) const;
  WindowShape largest_part(const WindowShape& shape) const;
  using StateOnLeft = typename CudaEngine<Real>::StateOnLeft;
  template <class Window, class Compute>
  std::vector<Window> compute_all(std::size_t parts, BoundaryState Window::*right_of, Compute compute);

  // Positions of a part of a window of a sequence, a whole number of its chunks.
  std::int64_t part_length(std::int64_t positions, std::int64_t length) const;

  std::vector<std::unique_ptr<CudaEngine<Real>>> engines_;
  std::int64_t fewest_chunks_;
};

}  // namespace semicrf::cuda
