// What the passes of an engine share: the model, its shape on the device, streams, and the way scores come
// up.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "cuda/device/cuda_check.h"
#include "cuda/device/device_buffer.h"
#include "cuda/engine/device_needs.h"
#include "cuda/recursion/run_list.h"
#include "cuda/scores/sequence_scores.h"
#include "cuda/tables/chain_tables.h"
#include "cuda/tables/tile_config.h"
#include "engine/cut_edges.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// The runs of a pass: how they are cut, what the host knows of them, and their list on the device.
//
// Where sequences lie on the rows that a pass shares: a window alone, or whole sequences one after the other,
// each from a whole block on. Plain C++.
struct PlacedSequence {
  PositionRange range;         // positions that are computed
  std::int64_t length = 0;     // T of the sequence
  RunCut cut;                  // states are kept at its marks and at the edges of runs
  std::int64_t first_row = 0;  // row of range.begin

  // The chunk that holds a position of the range, which begins with a chunk.
  std::size_t chunk_of(std::int64_t position) const {
    return static_cast<std::size_t>((position - range.begin) / cut.chunk);
  }
};

struct SequenceLayout {
  std::vector<PlacedSequence> sequences;
  PositionRange tokens;  // a window's own positions; rows [0, n) of whole sequences

  SequenceLayout() = default;
  // A window of a sequence.
  explicit SequenceLayout(const PlacedSequence& window) : sequences{window}, tokens(window.range) {}
  // Whole sequences, to be placed.
  explicit SequenceLayout(std::vector<PlacedSequence> whole);

  std::int64_t rows() const { return tokens.size(); }
  bool alone() const { return sequences.size() == 1; }
  std::int64_t longest_mark() const;
};

// What is known of a run after the pass.
struct RunOutcome {
  PositionRange range;  // positions
  int sequence = 0;     // sequence of the layout
  int first_state = 0;  // slot of the state where it begins (its right edge, backward)
  int last_state = 0;   // slot of the state where it ends
  RunReport report{};
  bool repaired = false;
  // What puts the run's values on the scale of the state the pass began with.
  double whole = 0, offset = 0;
};

class PassRuns {
 public:
  PassRuns(Direction direction, std::int64_t warmup) : direction_(direction), warmup_(warmup) {}

  // Cuts the sequences of a layout. `given`: the first run begins with a state that is known. `at_cut`: those
  // that begin at the sequence's edge begin at a cut.
  void cut(const SequenceLayout& layout, bool given, bool at_cut);
  // Writes tasks, junctions and final slots on the device. Asynchronous.
  void list(cudaStream_t stream);
  // The outcomes of all runs, as they are known beforehand.
  void make_outcomes();
  // Replaces the first tasks and junctions on the device, for runs that are repeated; at most two junctions
  // per run. Asynchronous.
  void list_again(const std::vector<RunTask>& tasks, const std::vector<Junction>& junctions,
                  cudaStream_t stream);

  std::size_t count() const { return count_; }
  std::size_t queues() const { return queue_count_; }
  std::size_t sequences() const { return listed_.size(); }
  // Slots of states; the last one is that of the given state, or of the cut edge where the pass begins.
  std::size_t slots() const { return slots_; }
  int given_slot() const { return static_cast<int>(slots_) - 1; }
  RunTask task(std::size_t i) const;
  bool is_first(std::size_t i) const {  // first run of its sequence
    return i == 0 || outcomes_[i - 1].sequence != outcomes_[i].sequence;
  }
  bool is_last(std::size_t i) const { return i + 1 == count_ || is_first(i + 1); }
  // Slot of the state that run i should begin with.
  int state_before(std::size_t i) const { return is_first(i) ? given_slot() : outcomes_[i - 1].last_state; }

  std::vector<RunOutcome>& outcomes() { return outcomes_; }
  const std::vector<RunOutcome>& outcomes() const { return outcomes_; }
  const RunOutcome& last_of(std::size_t sequence) const { return outcomes_[last_runs_[sequence]]; }

  const RunTask* tasks() const { return tasks_.get(); }
  const int* first_of_queues() const { return queues_.get(); }
  const Junction* junctions() const { return junctions_.get(); }
  const int* final_slots() const { return final_slots_.get(); }

 private:
  RunListing listing(const RunSequence* sequences) const;

  Direction direction_;
  std::int64_t warmup_;
  bool given_ = false, at_cut_ = false;
  std::vector<RunSequence> listed_;
  std::size_t count_ = 0, queue_count_ = 0, slots_ = 0;
  std::vector<RunOutcome> outcomes_;
  std::vector<std::size_t> last_runs_;  // last run of every sequence
  DeviceBuffer<RunSequence> sequence_list_;
  DeviceBuffer<RunTask> tasks_;  // tasks of all runs, or of those that are run again
  DeviceBuffer<int> queues_;     // the first run of every queue, and the number of runs
  DeviceBuffer<Junction> junctions_;
  DeviceBuffer<int> final_slots_;  // slots of the states at the ends of the sequences
};

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
