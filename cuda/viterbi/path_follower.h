// Paths through messages that lie on the device, followed at the same time and each in pieces.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "cuda/device/device_buffer.h"
#include "cuda/device/stream.h"
#include "cuda/viterbi/trace_launch.h"
#include "engine/engine.h"

namespace semicrf::cuda {

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

}  // namespace semicrf::cuda
