// What a traceback reads: the messages of a window, or of the sequences of a batch, on common scales.
#pragma once

#include <memory>
#include <vector>

#include "cuda/passes/chunk_pass.h"
#include "cuda/viterbi/path_follower.h"

namespace semicrf::cuda {

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
