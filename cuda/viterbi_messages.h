// The traceback through a window whose messages lie on the device.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "cuda/chunk_pass.h"
#include "cuda/pinned_buffer.h"
#include "cuda/trace_launch.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// Memory of tracebacks, reused from window to window.
struct TraceBuffers {
  DeviceBuffer<double> largest_bias;  // (C), filled once
  DeviceBuffer<double> left_entries;
  DeviceBuffer<BlockOrigin> runs, blocks;
  DeviceBuffer<TracePiece> pieces;
  DeviceBuffer<TraceResult> results;
  DeviceBuffer<TraceRecord> records, path;
  DeviceBuffer<std::int64_t> first, offsets;
  DeviceBuffer<int> counts;
  std::array<PinnedBuffer<TraceRecord>, 2> parts;
  std::array<Event, 2> copied;
};

// Positions per piece of a traceback, and how far right of it a path that is not known yet begins: functions
// of the model and the window.
struct TraceCut {
  std::int64_t piece = 0, halo = 0;
};
TraceCut trace_cut(std::int64_t positions, int max_duration);

template <class Real>
class CudaViterbiMessages final : public ViterbiMessages {
 public:
  // What the window's forward pass left; `outcomes` in order of position, `run` positions each.
  CudaViterbiMessages(const ChunkPass<Real, MaxSemiring>& pass, std::shared_ptr<const DeviceWindow> window,
                      std::shared_ptr<const StoreBuffers<Real>> store, std::shared_ptr<TraceBuffers> buffers,
                      const std::vector<RunOutcome>& outcomes, PositionRange range, std::int64_t run,
                      const BoundaryState* left, cudaStream_t stream);
  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override;

  // In two steps: the whole path of the window, right to left, valid until the buffers are used again.
  void follow(const TraceCursor& cursor);
  std::span<const TraceRecord> take_packed(TraceCursor& cursor);

 private:
  std::vector<TracePiece> make_pieces(const TraceCursor& cursor) const;
  TraceParameters<Real> parameters() const;
  void launch(const std::vector<TracePiece>& pieces);
  void gather(const std::vector<TracePiece>& pieces, const std::vector<TraceResult>& results,
              std::size_t first);
  void fetch(std::int64_t first);
  void move_to(TraceCursor& cursor) const;

  TablesView<Real> tables_;
  std::shared_ptr<const DeviceWindow> window_;
  std::shared_ptr<const StoreBuffers<Real>> store_;
  std::shared_ptr<TraceBuffers> buffers_;
  PositionRange range_;
  std::int64_t run_;
  cudaStream_t stream_;
  bool has_left_ = false;
  BlockOrigin left_{};
  // The path once it was followed: `total_` segments on the device, of which the first `given_` were handed
  // over.
  bool followed_ = false;
  std::int64_t total_ = 0, given_ = 0;
  std::int64_t end_ = 0;  // of the next segment
  TraceState final_{};
};

}  // namespace semicrf::cuda
