// The runs of a pass: how they are cut, what the host knows of them, and their list on the device.
#pragma once

#include <vector>

#include "cuda/device/device_buffer.h"
#include "cuda/passes/sequence_layout.h"
#include "cuda/recursion/run_list.h"
#include "cuda/tables/chain_tables.h"

namespace semicrf::cuda {

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

}  // namespace semicrf::cuda
