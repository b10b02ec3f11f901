// The traceback through a window whose messages lie on the device.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "cuda/viterbi/path_follower.h"
#include "engine/engine.h"

namespace semicrf::cuda {

template <class Real>
class CudaViterbiMessages final : public ViterbiMessages {
 public:
  // What the window's forward pass left; `outcomes` in order of position, `run` positions each. `left`: the
  // state where it begins, null where that is the sequence's end, or not known yet, see place().
  CudaViterbiMessages(const ChunkPass<Real, MaxSemiring>& pass, std::shared_ptr<const DeviceWindow> window,
                      std::shared_ptr<const StoreBuffers<Real>> store, std::shared_ptr<TracePlaces> places,
                      std::shared_ptr<TraceBuffers> buffers, const std::vector<RunOutcome>& outcomes,
                      PositionRange range, std::int64_t run, const BoundaryState* left, cudaStream_t stream);
  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override;
  std::unique_ptr<ViterbiMessages> right_edge(std::int64_t positions) override;
  // Brings all blocks to common scales; again when the state where the window begins is known, and the
  // outcomes are on its scale. Before anything is traced.
  void place(const std::vector<RunOutcome>& outcomes, const BoundaryState* left);

  // The whole path of the window, right to left, in pinned memory; valid until the buffers are used again.
  std::span<const TraceRecord> trace_packed(TraceCursor& cursor);

 private:
  TraceParameters<Real> parameters() const;
  void follow(const TraceCursor& cursor, TraceRecord* host);
  void fetch(std::int64_t first);
  void move_to(TraceCursor& cursor) const;

  TablesView<Real> tables_;
  std::shared_ptr<const DeviceWindow> window_;
  std::shared_ptr<const StoreBuffers<Real>> store_;
  std::shared_ptr<TracePlaces> places_;
  std::shared_ptr<TraceBuffers> buffers_;
  PositionRange range_;
  std::int64_t run_;
  cudaStream_t stream_;
  bool has_left_ = false;
  BlockOrigin left_{};
  bool is_edge_ = false;  // what lies left of range_ is missing
  PathFollower<Real> follower_;
  // The path once it was followed: its segments lie on the device, of which the first `given_` were handed
  // over.
  bool followed_ = false;
  std::int64_t given_ = 0;
  std::int64_t end_ = 0;  // of the next segment
};

}  // namespace semicrf::cuda
