// One direction over a window: runs of all its chunks at a time, junctions verified, failures run again from
// the truth (docs/algorithm.md, "Parallel in time").
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "cuda/passes/agreement.h"
#include "cuda/tables/device_chain.h"
#include "cuda/scores/device_window.h"
#include "cuda/device/pinned_buffer.h"
#include "cuda/recursion/run_launch.h"
#include "cuda/recursion/run_list.h"
#include "cuda/passes/sequence_layout.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// Messages of a window on the device.
template <class Real>
class StoreBuffers {
 public:
  // Room for the tokens of `range`, whole blocks.
  void reserve(PositionRange range, int labels, bool tail, bool shifts) {
    range_ = range;
    labels_ = static_cast<std::size_t>(labels);
    blocks_ = static_cast<std::size_t>((range.size() + kBlock - 1) / kBlock);
    const std::size_t entries = blocks_ * kBlock * labels_;
    alpha_.reserve(entries);
    start_.reserve(entries);
    if (tail) {
      tail_.reserve(entries);
      tail_scale_.reserve(blocks_ * labels_);
    }
    tail_kept_ = tail;
    for (auto* per_label : {&alpha_scale_, &start_scale_, &content_, &start_bound_})
      per_label->reserve(blocks_ * labels_);
    base_.reserve(blocks_);
    mass_.reserve(blocks_);
    exact_.reserve(blocks_);
    shifts_kept_ = shifts;
    if (shifts) shift_.reserve(blocks_ * kBlock);
    pool_used_.reserve(1);
    reserve_pool(std::max<std::size_t>(64, blocks_ / 16));
  }
  void reserve_pool(std::size_t slots) {
    pool_slots_ = std::max(pool_slots_, slots);
    const std::size_t entries = pool_slots_ * kBlock * labels_;
    pool_alpha_.reserve(entries);
    pool_start_.reserve(entries);
    if (tail_kept_) pool_tail_.reserve(entries);
  }
  std::size_t pool_slots() const { return pool_slots_; }
  // Zeros where a pass will write nothing: for callers that copy everything to the host.
  void clear(cudaStream_t stream) {
    alpha_.clear(blocks_ * kBlock * labels_, stream);
    start_.clear(blocks_ * kBlock * labels_, stream);
    if (tail_kept_) {
      tail_.clear(blocks_ * kBlock * labels_, stream);
      tail_scale_.clear(blocks_ * labels_, stream);
    }
    alpha_scale_.clear(blocks_ * labels_, stream);
    start_scale_.clear(blocks_ * labels_, stream);
    if (shifts_kept_) shift_.clear(blocks_ * kBlock, stream);
    for (auto* pool : {&pool_alpha_, &pool_start_, &pool_tail_}) pool->clear(pool->size(), stream);
  }
  void clear_pool(cudaStream_t stream) { pool_used_.clear(1, stream); }
  int pool_used(cudaStream_t stream) const { return pool_used_.download(1, stream)[0]; }
  // Asynchronous.
  void bring_pool_used(int* to, cudaStream_t stream) const { pool_used_.download(to, 0, 1, stream); }
  std::size_t blocks() const { return blocks_; }

  MessageStore<Real> view() const {
    MessageStore<Real> v{};
    v.alpha = alpha_.get();
    v.start = start_.get();
    v.tail = tail_kept_ ? tail_.get() : nullptr;
    v.tail_scale = tail_kept_ ? tail_scale_.get() : nullptr;
    v.alpha_scale = alpha_scale_.get();
    v.start_scale = start_scale_.get();
    v.content = content_.get();
    v.start_bound = start_bound_.get();
    v.base = base_.get();
    v.mass = mass_.get();
    v.shift = shifts_kept_ ? shift_.get() : nullptr;
    v.exact = exact_.get();
    v.pool_alpha = pool_alpha_.get();
    v.pool_start = pool_start_.get();
    v.pool_tail = tail_kept_ ? pool_tail_.get() : nullptr;
    v.pool_used = pool_used_.get();
    v.pool_slots = static_cast<int>(pool_slots_);
    v.first_token = range_.begin;
    return v;
  }

  // Copies on the host, for what is not worth a kernel.
  struct Copy {
    std::vector<Real> alpha, start, tail;
    std::vector<double> alpha_scale, start_scale, tail_scale, base, mass, shift, pool_alpha, pool_start,
        pool_tail;
    std::vector<int> exact;
  };
  // Blocks [first, first + count), except the pool.
  void download(std::size_t first, std::size_t count, Copy& copy, cudaStream_t stream) const {
    const auto take = [&](auto& to, const auto& from, std::size_t per_block) {
      to.resize(count * per_block);
      from.download(to.data(), first * per_block, count * per_block, stream);
    };
    take(copy.alpha, alpha_, kBlock * labels_);
    take(copy.start, start_, kBlock * labels_);
    if (tail_kept_) {
      take(copy.tail, tail_, kBlock * labels_);
      take(copy.tail_scale, tail_scale_, labels_);
    }
    take(copy.alpha_scale, alpha_scale_, labels_);
    take(copy.start_scale, start_scale_, labels_);
    take(copy.base, base_, 1);
    take(copy.mass, mass_, 1);
    take(copy.exact, exact_, 1);
    if (shifts_kept_) take(copy.shift, shift_, kBlock);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
  }
  // Takes its blocks from another window's messages, from block `first` on. False, and nothing is copied,
  // when one of them is exact.
  bool copy_blocks(const StoreBuffers& from, std::size_t first, cudaStream_t stream) {
    std::vector<int> exact(blocks_);
    from.exact_.download(exact.data(), first, blocks_, stream);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream));
    for (const int slot : exact)
      if (slot != 0) return false;
    const auto take = [&](auto& to, const auto& source, std::size_t per_block) {
      to.copy(source, first * per_block, blocks_ * per_block, stream);
    };
    take(alpha_, from.alpha_, kBlock * labels_);
    take(start_, from.start_, kBlock * labels_);
    if (tail_kept_) {
      take(tail_, from.tail_, kBlock * labels_);
      take(tail_scale_, from.tail_scale_, labels_);
    }
    take(alpha_scale_, from.alpha_scale_, labels_);
    take(start_scale_, from.start_scale_, labels_);
    take(content_, from.content_, labels_);
    take(start_bound_, from.start_bound_, labels_);
    take(base_, from.base_, 1);
    take(mass_, from.mass_, 1);
    take(exact_, from.exact_, 1);
    if (shifts_kept_) take(shift_, from.shift_, kBlock);
    return true;
  }
  // The pool.
  Copy download_pool(cudaStream_t stream) const {
    Copy copy;
    const std::size_t used =
        std::min(pool_slots_, static_cast<std::size_t>(pool_used(stream))) * kBlock * labels_;
    copy.pool_alpha = pool_alpha_.download(used, stream);
    copy.pool_start = pool_start_.download(used, stream);
    if (tail_kept_) copy.pool_tail = pool_tail_.download(used, stream);
    return copy;
  }

 private:
  PositionRange range_;
  std::size_t labels_ = 0, blocks_ = 0, pool_slots_ = 0;
  bool tail_kept_ = false, shifts_kept_ = false;
  DeviceBuffer<Real> alpha_, start_, tail_;
  DeviceBuffer<double> alpha_scale_, start_scale_, tail_scale_, content_, start_bound_, base_, mass_, shift_,
      pool_alpha_, pool_start_, pool_tail_;
  DeviceBuffer<int> exact_, pool_used_;
};

// Where the runs of a pass are cut, and what is kept.
struct PassPlan {
  Direction direction = Direction::kForward;
  SequenceLayout layout;
  std::int64_t warmup = 0;
};

// What is known of a run after the pass.
struct RunOutcome {
  PositionRange range;  // positions
  int sequence = 0;     // of the layout
  int first_state = 0;  // slot of the state where it begins (its right edge, backward)
  int last_state = 0;   // slot of the state where it ends
  int report_slot = 0;  // of its report on the device
  RunReport report{};
  bool repaired = false;
  // What puts the run's values on the scale of the state the pass began with.
  double whole = 0, offset = 0;
};

template <class Real, class Semiring>
class ChunkPass {
 public:
  ChunkPass(const ChainModel& model, Direction direction, const TileConfig& tile, double tolerance,
            cudaStream_t stream);

  // `given`: the true state where the pass begins, or null: it begins at an end of the sequence (always,
  // where there are several), or that state is not known, and values are relative to what was warmed up.
  // `store` may be null. Outcomes sequence by sequence, each in the order of the pass; until the next pass.
  const std::vector<RunOutcome>& run(const PassPlan& plan, const SequenceView* sequences,
                                     const BoundaryState* given, StoreBuffers<Real>* store);
  const std::vector<RunOutcome>& run(const PassPlan& plan, const DeviceWindow& window,
                                     const BoundaryState* given, StoreBuffers<Real>* store) {
    return run(plan, window.on_device(), given, store);
  }
  // The same in two steps. begin() gives everything to the stream and waits for no kernel; its arguments must
  // stay. What the pass left on the device may be used ahead, and stands if settled(), which is known when
  // the stream was waited for; else finish() runs what failed again.
  void begin(const PassPlan& plan, const SequenceView* sequences, const BoundaryState* given,
             StoreBuffers<Real>* store);
  bool settled() const;
  const std::vector<RunOutcome>& finish();
  // After a pass that began within a sequence without a given state: that state, whose run before it is known
  // by now. Puts the outcomes on its scale, as if it had been given; false, and nothing is changed, where the
  // state that was warmed up does not agree with it.
  bool join(const BoundaryState& given);
  // The runs; before the pass is over as they are known beforehand, without reports.
  const std::vector<RunOutcome>& outcomes() const { return outcomes_; }

  const DeviceChain<Real, Semiring>& chain() const { return chain_; }
  StateStore states() const { return {entries_.get(), whole(), offset(), stride()}; }
  const RunReport* reports() const { return reports_in(results_.get()); }
  // The state in a slot, as the run left it; `boundary` and the outcome it belongs to are the caller's to
  // know.
  BoundaryState download_state(int slot, std::int64_t boundary) const;
  // (C) alpha at the end of a sequence, relative to what download_state() gives.
  BoundaryState final_message(std::size_t sequence) const;
  std::size_t workspace_bytes(std::size_t tasks) const;
  void relaunch(const RunParameters<Real>& parameters) const;  // for measurements
  const RunParameters<Real>& last_parameters() const { return last_; }
  int last_blocks() const { return last_blocks_; }

 private:
  // kTooEarly: a run was repaired from a state that was repaired itself afterwards.
  enum class Repair { kDone, kPoolFull, kTooEarly };
  // Doubles that these take among the results.
  static constexpr std::size_t kReportEntries = sizeof(RunReport) / sizeof(double);
  static constexpr std::size_t kJunctionEntries = sizeof(JunctionResult) / sizeof(double);
  static_assert(sizeof(RunReport) % sizeof(double) == 0 && sizeof(JunctionResult) % sizeof(double) == 0);

  std::int64_t stride() const {
    const auto& t = chain_.host();
    return (static_cast<std::int64_t>(t.duration) + 2) * t.labels;
  }
  // Results that come to the host in one copy: whole and offset of the slots, junctions, of several sequences
  // the messages at their ends, and reports of runs and of repaired runs.
  double* whole() const { return results_.get(); }
  double* offset() const { return results_.get() + slots_; }
  JunctionResult* junctions_in(double* results) const {
    return reinterpret_cast<JunctionResult*>(results + 2 * slots_);
  }
  double* messages_in(double* results) const { return results + 2 * slots_ + runs_ * kJunctionEntries; }
  RunReport* reports_in(double* results) const {
    return reinterpret_cast<RunReport*>(results + entries_before_reports());
  }
  // Doubles of the results, with so many reports of repaired runs.
  std::size_t result_entries(std::size_t repaired) const;
  std::size_t entries_before_reports() const;
  void list_sequences();
  void make_outcomes();
  RunTask task_of(std::size_t i) const;
  void upload_state(const BoundaryState& state, int slot);
  void launch_again();
  void launch(std::size_t count, std::size_t first_report);
  void compare(std::size_t count);
  void bring_results();
  bool pool_sufficed() const;
  std::vector<std::size_t> failed_runs() const;
  Repair repair(const std::vector<std::size_t>& failed);
  void join_runs();
  bool is_first(std::size_t i) const;  // of its sequence
  bool is_last(std::size_t i) const { return i + 1 == runs_ || is_first(i + 1); }
  // Whether something comes before it that it must agree with.
  bool joined(std::size_t i) const { return !is_first(i) || given_ != nullptr; }
  int state_before(std::size_t i) const;
  int given_slot() const { return static_cast<int>(slots_) - 1; }
  RunListing listing(const RunSequence* sequences) const;

  TileConfig tile_;
  TileConfig last_tile_;                 // of the last launch
  std::map<int, std::size_t> resident_;  // blocks of threads at a time, by warps per block
  int multiprocessors_ = 1;
  double tolerance_;
  cudaStream_t stream_;
  DeviceChain<Real, Semiring> chain_;
  // Of the pass under way.
  PassPlan plan_;
  const SequenceView* sequences_ = nullptr;
  const BoundaryState* given_ = nullptr;
  StoreBuffers<Real>* store_ = nullptr;
  std::vector<RunSequence> listed_;
  std::size_t runs_ = 0;
  std::vector<RunOutcome> outcomes_;
  std::vector<std::size_t> last_runs_;  // of every sequence
  std::vector<JunctionResult> joins_;   // where each run begins
  std::size_t slots_ = 0;               // of states; the last one is the given state's
  std::size_t repaired_ = 0;            // runs
  bool one_by_one_ = false;             // one repair of a sequence after the other
  int brought_slot_ = -1;               // of the state that came with the results
  DeviceBuffer<RunSequence> sequence_list_;
  DeviceBuffer<RunTask> tasks_;  // of all runs, or of those that are run again
  DeviceBuffer<Junction> junctions_;
  DeviceBuffer<int> final_slots_;
  DeviceBuffer<double> entries_, results_;
  DeviceBuffer<double> exact_logs_, exact_rows_;
  DeviceBuffer<int> has_log_, ring_scale_;
  DeviceBuffer<Real> ring_;
  PinnedBuffer<double> host_results_, host_state_;
  PinnedBuffer<int> host_pool_;
  RunParameters<Real> last_{};
  int last_blocks_ = 0;
};

}  // namespace semicrf::cuda
