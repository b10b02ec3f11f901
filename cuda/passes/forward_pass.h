// The forward pass in the log semiring: log Z of sequences, and the forward messages of a window.
#pragma once

#include <memory>
#include <vector>

#include "cuda/passes/chunk_pass.h"
#include "engine/batch.h"

namespace semicrf::cuda {

template <class Real>
class ForwardPass {
 public:
  using Sweep = ChunkPass<Real, LogSemiring>;

  explicit ForwardPass(DeviceContext& context) : context_(context) {}

  // See Engine::forward; `scores` are those of the input.
  ForwardWindow window(const PassInput& input, const ScoreWindow& scores, const BoundaryState* left,
                       const ForwardArrays& out);
  // See Engine::log_partitions.
  std::vector<SequenceResult> log_partitions(const PassInput& input);

  // The posteriors begin with the same sweep, and its messages.
  Sweep& sweep();
  MessageBuffers<Real>& messages() { return messages_; }

 private:
  void write_messages(const PassInput& input, const ScoreWindow& scores, const ForwardArrays& out,
                      double whole);

  DeviceContext& context_;
  std::unique_ptr<Sweep> sweep_;
  MessageBuffers<Real> messages_;
};

}  // namespace semicrf::cuda
