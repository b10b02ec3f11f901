// One direction over a window, or over the sequences of a batch: runs of all chunks at a time, junctions
// verified, runs that fail done again until none does (docs/algorithm.md, "Parallel in time").
//
// The room: passes/ has what one direction of one semiring needs: the layout of sequences on common rows, the
// runs they are cut into, their launch and workspace, the messages they leave, and the judgement of
// junctions. It includes device/, tables/ and recursion/. The rooms viterbi/, posteriors/ and counts/ make
// results of it.
#pragma once

#include <map>
#include <vector>

#include "cuda/device/device_buffer.h"
#include "cuda/passes/device_context.h"
#include "cuda/passes/pass_buffers.h"
#include "cuda/recursion/run_launch.h"
#include "cuda/tables/device_chain.h"

namespace semicrf::cuda {

// Launches the recursion over a list of runs: how many teams work at a time, and their workspace.
template <class Real, class Semiring>
class RunLauncher {
 public:
  explicit RunLauncher(const TileConfig& tile)
      : tile_(tile), multiprocessors_(device_attribute(cudaDevAttrMultiProcessorCount)) {}

  // Runs the first p.num_queues queues of runs; shape and workspace are filled in here. Asynchronous.
  void launch(RunParameters<Real> p, cudaStream_t stream) {
    p.layout = tile_.layout;
    p.panels = tile_.panels;
    p.parts = tile_.parts;
    p.table_in_shared = tile_.table_in_shared ? 1 : 0;
    p.ring_in_shared = tile_.ring_in_shared ? 1 : 0;
    p.transitions_in_shared = tile_.transitions_in_shared ? 1 : 0;
    const std::size_t count = wide(p.num_queues);
    last_tile_ = spread(tile_, count, multiprocessors_);
    std::size_t& resident = resident_[last_tile_.warps];
    if (resident == 0) resident = wide(resident_blocks<Real, Semiring>(last_tile_));
    const std::size_t per_block = wide(last_tile_.teams_per_block);
    const TeamShape shape{p.tables.labels, p.tables.ring_blocks, tile_.ring_in_shared};
    const std::size_t wanted = std::min(ceil_div(count, per_block), resident) * per_block;
    const std::size_t blocks = std::max<std::size_t>(1, most_teams<Real>(shape, wanted) / per_block);
    const std::size_t teams = blocks * per_block;
    workspace_.reserve(workspace_bytes<Real>(shape, teams));
    slice_workspace(shape, teams, workspace_.get(), p);
    p.teams = static_cast<int>(teams);
    last_ = p;
    last_blocks_ = static_cast<int>(blocks);
    repeat(stream);
  }
  // The last launch once more: for measurements.
  void repeat(cudaStream_t stream) const {
    launch_runs<Real, Semiring>(last_tile_, last_blocks_, last_, stream);
  }

 private:
  TileConfig tile_;
  int multiprocessors_;
  std::map<int, std::size_t> resident_;  // blocks of threads at a time, by warps per block
  DeviceBuffer<unsigned char> workspace_;
  TileConfig last_tile_;
  RunParameters<Real> last_{};
  int last_blocks_ = 0;
};

// Within this the states at a junction agree (log units), besides rounding of large entries.
template <class Real>
inline constexpr double kTolerance = sizeof(Real) == sizeof(float) ? 1e-5 : 1e-11;

template <class Real, class Semiring>
class ChunkPass {
 public:
  // On the stream of its direction.
  ChunkPass(const DeviceContext& context, Direction direction);

  // `given`: the true state where the pass begins, or null: it begins at an end of the sequence (always,
  // where there are several), or that state is not known, and values are relative to what was warmed up.
  // `sequences` lie on the device; `store` may be null. Outcomes sequence by sequence, each in the order of
  // the pass; until the next pass.
  const std::vector<RunOutcome>& run(const SequenceLayout& layout, const SequenceView* sequences,
                                     const BoundaryState* given, MessageBuffers<Real>* store);
  // The pass in two steps. begin() gives everything to the stream and waits for no kernel; its arguments but
  // the layout must stay. What the pass left on the device may be used ahead, and stands if settled(), which
  // is known when the stream was waited for; else finish() runs what failed again.
  void begin(const SequenceLayout& layout, const SequenceView* sequences, const BoundaryState* given,
             MessageBuffers<Real>* store);
  bool settled() const;
  const std::vector<RunOutcome>& finish();
  // After a pass that began within a sequence without a given state: that state, whose run before it is known
  // by now. Puts the outcomes on its scale, as if it had been given; false, and nothing is changed, where the
  // state that was warmed up does not agree with it.
  bool join(const BoundaryState& given);
  // The runs; before the pass is over as they are known beforehand, without reports.
  const std::vector<RunOutcome>& outcomes() const { return runs_.outcomes(); }

  const DeviceChain<Real, Semiring>& chain() const { return chain_; }
  StateStore states() const;
  const RunReport* reports() const { return results_.device().reports; }
  // Slot of the state at the cut edge where the pass begins.
  int slot_at_cut() const { return runs_.given_slot(); }
  // Where the pass over a sequence ended, on the scale of the state it began with. Of several sequences the
  // message alone, unless they end at a cut.
  BoundaryState state_at_end(std::size_t sequence = 0) const;
  // Where the pass over the only sequence began, as it was warmed up.
  BoundaryState state_at_begin() const;
  void repeat_launch() const { launcher_.repeat(stream_); }  // for measurements

 private:
  std::int64_t stride() const {
    const auto& t = chain_.host();
    return (static_cast<std::int64_t>(t.duration) + 2) * t.labels;
  }
  void start();
  void upload_given(const BoundaryState& state);
  void launch(std::size_t count, const int* queues);
  void compare(std::size_t first, std::size_t count, double tolerance);
  void download_results();
  BoundaryState state_in(int slot) const;
  bool pool_sufficed() const;
  int rounds_together(std::size_t run) const;
  std::vector<std::size_t> failed_runs() const;
  bool end_impossible_sequences(const std::vector<std::size_t>& failed);
  const BoundaryState& given_after(int round) const;
  void keep_earlier_end();
  void repair(const std::vector<std::size_t>& failed);
  bool repair_all();
  // Whether something comes before a run that it must agree with.
  bool joined(std::size_t i, const BoundaryState* given) const {
    return !runs_.is_first(i) || given != nullptr;
  }
  void join_runs(const BoundaryState* given);

  Direction direction_;
  std::int64_t repair_reach_;
  cudaStream_t stream_;
  DeviceChain<Real, Semiring> chain_;
  RunLauncher<Real, Semiring> launcher_;
  // The pass under way.
  SequenceLayout layout_;
  const SequenceView* sequences_ = nullptr;
  const BoundaryState* given_ = nullptr;
  MessageBuffers<Real>* store_ = nullptr;
  PassRuns runs_;
  std::vector<JunctionResult> joins_;        // where each run begins
  int round_ = 0;                            // round of repairs
  std::vector<BoundaryState> earlier_ends_;  // states at the end of the only sequence, before their repair
  int end_round_ = 0;                        // in which that of today was computed
  DeviceBuffer<double> entries_;             // entries of the states
  PassResults results_;
  int last_slot_ = -1;               // slot of the state that came with the results
  PinnedBuffer<double> host_state_;  // it
  PinnedBuffer<int> host_pool_;
};

}  // namespace semicrf::cuda
