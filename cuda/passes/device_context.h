// What the passes of an engine share: the model, its shape on the device, streams, and the way scores come
// up.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "cuda/device/stream.h"
#include "cuda/engine/device_needs.h"
#include "cuda/passes/pass_runs.h"
#include "cuda/scores/sequence_scores.h"
#include "cuda/tables/tile_config.h"
#include "engine/cut_edges.h"

namespace semicrf::cuda {

struct DeviceContext {
  // The model must live as long. `shared_limit`: bytes of shared memory that a block of threads may have;
  // `memory_limit`: bytes of the device that windows may take; `host_threads`: those that copy scores.
  DeviceContext(const ChainModel& chain_model, std::size_t bytes_of_real, int on_device,
                std::size_t shared_limit, std::size_t memory_limit, int host_threads,
                const WorkRules& work_rules = {});
  // Ends all copies and kernels, so that what they work on may be destroyed.
  void end_work();

  ModelShape shape() const;
  // How a sequence, or a window of it, is cut. `with_marks`: for posteriors, states are kept within runs.
  PlacedSequence cut(std::int64_t length, PositionRange range, bool with_marks) const;
  using Reports = std::vector<std::vector<ChunkReport>>;  // reports of every sequence
  // Fallbacks and repairs of the runs of a pass; those of `others`, unless null, are added.
  Reports reports_of(const SequenceLayout& layout, const std::vector<RunOutcome>& outcomes,
                     const std::vector<RunOutcome>* others = nullptr) const;

  // log Z of a whole sequence from the forward state at its end.
  double log_partition(const BoundaryState& at_end) const {
    return cut_sums ? cut_sums->log_partition(at_end) : log_sum(at_end);
  }

  const ChainModel& model;
  std::optional<CutEdgeSums> cut_sums;  // sums of models with cut edges
  std::size_t real_bytes;               // bytes of a number that the passes compute with
  int device;
  std::size_t memory;
  int threads;
  WorkRules rules;
  RunGrid grid;
  TileConfig tile;
  Teams teams;
  Stream stream, backward_stream;    // the backward pass runs beside the forward one
  ScoreUpload copies, batch_copies;  // scores of windows, which may be copied ahead; of batches
};

// What a pass works on.
struct PassInput {
  SequenceLayout layout;
  std::shared_ptr<SequenceScores> scores;
};

// Messages that are kept live as long as their window; what comes next gets memory of its own.
template <class Buffers>
const std::shared_ptr<Buffers>& unused(std::shared_ptr<Buffers>& buffers) {
  if (!buffers || buffers.use_count() > 1) buffers = std::make_shared<Buffers>();
  return buffers;
}

}  // namespace semicrf::cuda
