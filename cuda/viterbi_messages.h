// The traceback through a window whose messages lie on the device.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "cuda/chunk_pass.h"
#include "cuda/pinned_buffer.h"
#include "cuda/stream.h"
#include "cuda/trace_launch.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// Where the messages of a window lie on common scales.
struct TracePlaces {
  DeviceBuffer<double> left_entries;
  DeviceBuffer<BlockOrigin> runs, blocks;
  DeviceBuffer<BlockLink> links;
  DeviceBuffer<int> far_key;
};

// Memory and streams of tracebacks, for one at a time.
struct TraceBuffers {
  DeviceBuffer<double> largest_bias;  // (C), filled once
  DeviceBuffer<TracePiece> pieces, again;
  DeviceBuffer<TraceResult> results;
  DeviceBuffer<TraceRecord> records, path;
  DeviceBuffer<GatherTask> tasks;
  PinnedBuffer<TracePiece> host_pieces;
  PinnedBuffer<TraceResult> host_results;
  PinnedBuffer<GatherTask> host_tasks;
  std::array<PinnedBuffer<TraceRecord>, 2> parts;
  std::array<Event, 2> copied;
  Event ready;
  // Pieces are followed in batches, from right to left; `down` puts what is known in order and copies it.
  std::array<Stream, kMostTraceBatches> following;
  std::array<Event, kMostTraceBatches> followed;
  Stream down{Stream::Order::kFirst};
};

template <class Real>
class CudaViterbiMessages final : public ViterbiMessages {
 public:
  // What the window's forward pass left; `outcomes` in order of position, `run` positions each. `left`: the
  // state where it begins, null where that is the sequence's end, or not known before join().
  CudaViterbiMessages(const ChunkPass<Real, MaxSemiring>& pass, std::shared_ptr<const DeviceWindow> window,
                      std::shared_ptr<const StoreBuffers<Real>> store, std::shared_ptr<TracePlaces> places,
                      std::shared_ptr<TraceBuffers> buffers, const std::vector<RunOutcome>& outcomes,
                      PositionRange range, std::int64_t run, const BoundaryState* left, cudaStream_t stream);
  bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) override;
  std::unique_ptr<ViterbiMessages> right_edge(std::int64_t positions) override;
  // The state where the window begins, and the outcomes on its scale. Before anything is traced.
  void join(const BoundaryState& left, const std::vector<RunOutcome>& outcomes);

  // The whole path of the window, right to left, in pinned memory; valid until the buffers are used again.
  std::span<const TraceRecord> trace_packed(TraceCursor& cursor);

 private:
  // Pieces [first, last) of a path, numbered from right to left.
  struct Batch {
    std::size_t first, last;
  };
  TraceParameters<Real> parameters() const;
  void place(const std::vector<RunOutcome>& outcomes, const BoundaryState* left);
  void make_pieces(const TraceCursor& cursor);
  std::vector<Batch> send_out();
  void follow(const TraceCursor& cursor, TraceRecord* host);
  bool settle(Batch& batch, std::size_t index);
  void follow_again(const std::vector<TracePiece>& again, std::size_t index);
  void gather(const Batch& batch, TraceRecord* host);
  void fetch(std::int64_t first);
  void move_to(TraceCursor& cursor) const;

  TablesView<Real> tables_;
  TraceShape shape_;
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
  // The path once it was followed: `total_` segments on the device, of which the first `given_` were handed
  // over.
  bool followed_ = false;
  std::size_t pieces_ = 0;
  std::int64_t records_ = 0;  // room for them
  std::int64_t total_ = 0, given_ = 0;
  std::int64_t end_ = 0;  // of the next segment
  TraceState final_{};
};

}  // namespace semicrf::cuda
