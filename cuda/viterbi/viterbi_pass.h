// Best paths: the forward pass in the max semiring, whose messages are kept, and the traceback through them.
//
// The room: viterbi/ follows paths in pieces that are guessed and checked (docs/algorithm.md, "Parallel in
// time"). It includes passes/ and what that includes.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cuda/viterbi/trace_input.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// The traceback through a window whose messages lie on the device.
template <class Real>
class CudaViterbiMessages final : public ViterbiMessages {
 public:
  // The messages of a window.
  explicit CudaViterbiMessages(TraceInput<Real> input)
      : input_(std::move(input)), follower_(input_.shared_buffers(), input_.stream()) {}
  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override;
  std::unique_ptr<ViterbiMessages> right_edge(std::int64_t positions) override;
  // See TraceInput::place(). Before anything is traced.
  void place(const std::vector<RunOutcome>& outcomes, const BoundaryState* left) {
    input_.place(outcomes, left);
  }

 private:
  std::int64_t traced_from() const;
  void follow(const TraceCursor& cursor);
  void fetch(std::int64_t first);
  void move_to(TraceCursor& cursor) const;

  TraceInput<Real> input_;
  bool is_edge_ = false;  // what lies left of the input is missing
  PathFollower<Real> follower_;
  // The path once it was followed: its records lie on the device, of which the first `written_` were read.
  bool followed_ = false;
  std::int64_t written_ = 0;
  RecordReader reader_;
};

template <class Real>
class ViterbiPass {
 public:
  using Sweep = ChunkPass<Real, MaxSemiring>;
  // Right to left, in pinned memory; valid until the next call. Empty: there is no path.
  using Path = std::span<const TraceRecord>;

  explicit ViterbiPass(DeviceContext& context) : context_(context) {}

  // See Engine::viterbi. The window's messages keep the input's scores.
  ViterbiWindow window(const PassInput& input, const BoundaryState* left, bool keep_messages);
  // Puts the window that was computed last, within its sequence and without the state at its left edge, on
  // the scale of that state. False where that is not what was warmed up: then it must be computed again.
  bool join(ViterbiWindow& window, const BoundaryState& left);

  // Whole sequences: the messages of all, then their paths.
  DeviceContext::Reports compute_messages(const PassInput& input);
  std::vector<Path> trace(const PassInput& input);

 private:
  Sweep& sweep();
  TraceInput<Real> trace_input(const PassInput& input, const BoundaryState* left);
  const std::vector<RunOutcome>& keep_messages(const PassInput& input, const BoundaryState* left);

  DeviceContext& context_;
  std::unique_ptr<Sweep> sweep_;
  std::shared_ptr<MessageBuffers<Real>> messages_;
  std::shared_ptr<TracePlaces> places_;
  std::shared_ptr<TraceBuffers> buffers_;
};

}  // namespace semicrf::cuda
