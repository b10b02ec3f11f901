// What a traceback reads: the messages of a window, or of the sequences of a batch, on common scales.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/device/cuda_check.h"
#include "cuda/device/device_buffer.h"
#include "cuda/passes/chunk_pass.h"
#include "cuda/viterbi/trace_launch.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// Paths through messages that lie on the device, followed at the same time and each in pieces.
//
// Memory and streams of tracebacks, for one at a time.
struct TraceBuffers {
  DeviceBuffer<TraceRecord> records, path;
  // The device reads and writes these where they are: a copy would wait for those of paths.
  PinnedBuffer<TracePiece> pieces, again;
  PinnedBuffer<TraceResult> results;
  PinnedBuffer<GatherTask> tasks;
  std::array<PinnedBuffer<TraceRecord>, 2> parts;
  std::array<Event, 2> copied;
  Event ready;
  // Pieces are followed in batches, from right to left; `down` puts what is known in order and copies it.
  std::array<Stream, kMostTraceBatches> following;
  std::array<Event, kMostTraceBatches> followed;
  Stream down{Stream::Order::kFirst};
};

template <class Real>
class PathFollower {
 public:
  PathFollower(std::shared_ptr<TraceBuffers> buffers, cudaStream_t stream)
      : buffers_(std::move(buffers)), stream_(stream) {}

  // Forgets the paths so far.
  void begin();
  // One more path, to be followed from `start` to boundary `end`. `blocked`: steps that need what lies left
  // of it are tried there and fail; else a path that has come to it, or over it, is left as it is.
  void add(const TraceState& start, std::int64_t end, bool blocked, const TraceCut& cut);
  // Follows them all. Afterwards their records lie in the buffers' `path`, path after path and each right to
  // left, and are on their way to `host` unless that is null; the stream `down` has them.
  void follow(const TraceParameters<Real>& parameters, TraceRecord* host);

  std::int64_t records() const { return total_; }
  std::int64_t records_of(std::size_t path) const { return records_of_[path]; }
  const TraceState& last_state() const { return last_state_; }  // where the last path was left

 private:
  // Pieces [first, last), numbered path after path and each right to left.
  struct Batch {
    std::size_t first, last;
  };
  struct Path {
    std::size_t first_piece;
    std::int64_t end;
    bool blocked;
  };
  std::vector<Batch> send_out();
  bool settle(const Batch& batch, std::size_t index);
  void follow_again(const std::vector<TracePiece>& again, std::size_t index);
  void gather(const Batch& batch, TraceRecord* host);

  std::shared_ptr<TraceBuffers> buffers_;
  cudaStream_t stream_;
  TraceParameters<Real> parameters_{};
  std::vector<TracePiece> pieces_;
  std::vector<Path> paths_;
  std::vector<std::size_t> path_of_;  // path of every piece
  std::vector<std::int64_t> records_of_;
  bool over_ = false;      // the path of the last piece that was settled
  std::int64_t room_ = 0;  // for records
  std::int64_t total_ = 0;
  TraceState last_state_{};
};

static_assert(sizeof(BlockOrigin) + sizeof(BlockLink) == kTracePlaceBytes);
static_assert(sizeof(BlockOrigin) == kTracePlaceBytes / 2);

// What blocks are relative to, and how they hang together, see TraceParameters.
struct TracePlaces {
  DeviceBuffer<double> left_entries;
  DeviceBuffer<BlockOrigin> runs, blocks;
  DeviceBuffer<BlockLink> links;
  DeviceBuffer<int> far_key;
  DeviceBuffer<int> sequence_of;  // for a batch: the sequence of each block
};

template <class Real>
class TraceInput {
 public:
  using Sweep = ChunkPass<Real, MaxSemiring>;

  // What a pass over the input left. `left`: the state where a window begins, null where that is the
  // sequence's end, or not known yet, see place().
  TraceInput(const Sweep& sweep, const PassInput& input, std::shared_ptr<const MessageBuffers<Real>> messages,
             std::shared_ptr<TracePlaces> places, std::shared_ptr<TraceBuffers> buffers,
             const BoundaryState* left, cudaStream_t stream);
  // Puts all blocks on common scales; again when the state where the window begins is known, and the outcomes
  // are on its scale.
  void place(const std::vector<RunOutcome>& outcomes, const BoundaryState* left);
  // The blocks of `range` at the right end of the window, in memory of their own. False where one of them is
  // exact: its numbers lie elsewhere.
  bool cut_right_edge(PositionRange range);

  TraceParameters<Real> parameters() const;
  const TablesView<Real>& tables() const { return tables_; }
  TraceBuffers& buffers() const { return *buffers_; }
  const std::shared_ptr<TraceBuffers>& shared_buffers() const { return buffers_; }
  PositionRange range() const { return range_; }
  cudaStream_t stream() const { return stream_; }

 private:
  TablesView<Real> tables_;
  std::shared_ptr<const SequenceScores> scores_;
  std::shared_ptr<const MessageBuffers<Real>> messages_;
  std::shared_ptr<TracePlaces> places_;
  std::shared_ptr<TraceBuffers> buffers_;
  PositionRange range_;  // rows of a batch
  std::int64_t run_;     // run of a window
  bool several_;         // sequences
  bool has_left_ = false;
  BlockOrigin left_{};
  cudaStream_t stream_;
};

}  // namespace semicrf::cuda
