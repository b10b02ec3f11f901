// The traceback through a window whose messages lie on the device.
#pragma once

#include <memory>
#include <vector>

#include "cuda/viterbi/trace_input.h"
#include "engine/engine.h"

namespace semicrf::cuda {

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

}  // namespace semicrf::cuda
