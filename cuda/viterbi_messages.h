// The traceback through a window whose messages lie on the device.
#pragma once

#include <memory>
#include <vector>

#include "cuda/chunk_pass.h"
#include "cuda/trace_launch.h"
#include "engine/engine.h"

namespace semicrf::cuda {

template <class Real>
class CudaViterbiMessages final : public ViterbiMessages {
 public:
  // What the window's forward pass left; `outcomes` in order of position, `run` positions each.
  CudaViterbiMessages(const ChunkPass<Real, MaxSemiring>& pass, std::shared_ptr<const DeviceWindow> window,
                      std::shared_ptr<const StoreBuffers<Real>> store,
                      const std::vector<RunOutcome>& outcomes, PositionRange range, std::int64_t run,
                      const BoundaryState* left, cudaStream_t stream);
  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override;

 private:
  std::vector<TracePiece> make_pieces(const TraceCursor& cursor) const;
  TraceParameters<Real> parameters(const DeviceBuffer<TracePiece>& pieces,
                                   const DeviceBuffer<TraceRecord>& records,
                                   const DeviceBuffer<TraceResult>& results) const;

  TablesView<Real> tables_;
  std::shared_ptr<const DeviceWindow> window_;
  std::shared_ptr<const StoreBuffers<Real>> store_;
  PositionRange range_;
  std::int64_t run_;
  cudaStream_t stream_;
  bool has_left_ = false;
  double left_whole_ = 0, left_offset_ = 0;
  DeviceBuffer<double> left_entries_, run_whole_, run_offset_, largest_bias_;
};

}  // namespace semicrf::cuda
