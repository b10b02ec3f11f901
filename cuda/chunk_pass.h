// One direction over a window: runs of all its chunks at a time, junctions verified, failures run again from
// the truth (docs/algorithm.md, "Parallel in time").
#pragma once

#include <optional>
#include <vector>

#include "cuda/agreement.h"
#include "cuda/device_chain.h"
#include "cuda/device_window.h"
#include "cuda/run_launch.h"
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
    if (tail) tail_.reserve(entries);
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
    if (tail_kept_) tail_.clear(blocks_ * kBlock * labels_, stream);
    alpha_scale_.clear(blocks_ * labels_, stream);
    start_scale_.clear(blocks_ * labels_, stream);
    if (shifts_kept_) shift_.clear(blocks_ * kBlock, stream);
    for (auto* pool : {&pool_alpha_, &pool_start_, &pool_tail_}) pool->clear(pool->size(), stream);
  }
  void clear_pool(cudaStream_t stream) { pool_used_.clear(1, stream); }
  int pool_used(cudaStream_t stream) const { return pool_used_.download(1, stream)[0]; }
  std::size_t blocks() const { return blocks_; }

  MessageStore<Real> view() const {
    MessageStore<Real> v{};
    v.alpha = alpha_.get();
    v.start = start_.get();
    v.tail = tail_kept_ ? tail_.get() : nullptr;
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
    std::vector<double> alpha_scale, start_scale, base, mass, shift, pool_alpha, pool_start, pool_tail;
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
    if (tail_kept_) take(copy.tail, tail_, kBlock * labels_);
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
    if (tail_kept_) take(tail_, from.tail_, kBlock * labels_);
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
  DeviceBuffer<double> alpha_scale_, start_scale_, content_, start_bound_, base_, mass_, shift_, pool_alpha_,
      pool_start_, pool_tail_;
  DeviceBuffer<int> exact_, pool_used_;
};

// Where the runs of a pass are cut, and what is kept.
struct PassPlan {
  Direction direction = Direction::kForward;
  PositionRange range;
  std::int64_t run = 0;   // positions per run
  std::int64_t mark = 0;  // states are kept at its multiples and at the edges of runs
  std::int64_t warmup = 0;
};

// What is known of a run after the pass.
struct RunOutcome {
  PositionRange range;  // positions
  int first_state = 0;  // slot of the state where it begins (its right edge, backward)
  int last_state = 0;   // slot of the state where it ends
  RunReport report{};
  bool repaired = false;
  // What puts the run's values on the scale of the state the pass began with.
  double whole = 0, offset = 0;
};

template <class Real, class Semiring>
class ChunkPass {
 public:
  ChunkPass(const ChainModel& model, Direction direction, const TileConfig& tile, double tolerance,
            cudaStream_t stream)
      : tile_(tile), tolerance_(tolerance), stream_(stream), chain_(model, direction, tile, stream) {}

  // `given`: the true state where the pass begins, or null. `store` may be null. Outcomes in the order of the
  // pass.
  std::vector<RunOutcome> run(const PassPlan& plan, const DeviceWindow& window, const BoundaryState* given,
                              StoreBuffers<Real>* store);

  const DeviceChain<Real, Semiring>& chain() const { return chain_; }
  StateStore states() const { return {entries_.get(), whole_.get(), offset_.get(), stride()}; }
  const RunReport* reports() const { return reports_.get(); }
  // The state in a slot, as the run left it; `boundary` and the outcome it belongs to are the caller's to
  // know.
  BoundaryState download_state(int slot, std::int64_t boundary) const;
  std::size_t workspace_bytes(std::size_t tasks) const;
  void relaunch(const RunParameters<Real>& parameters) const;  // for measurements
  const RunParameters<Real>& last_parameters() const { return last_; }
  int last_blocks() const { return last_blocks_; }

 private:
  std::int64_t stride() const {
    const auto& t = chain_.host();
    return (static_cast<std::int64_t>(t.duration) + 2) * t.labels;
  }
  void make_tasks(const PassPlan& plan, const DeviceWindow& window);
  void upload_state(const BoundaryState& state, int slot);
  void launch(const PassPlan& plan, const DeviceWindow& window, StoreBuffers<Real>* store, std::size_t first,
              std::size_t count);
  std::vector<JunctionResult> compare(const std::vector<Junction>& junctions);

  TileConfig tile_;
  TileConfig last_tile_;  // of the last launch
  double tolerance_;
  cudaStream_t stream_;
  DeviceChain<Real, Semiring> chain_;
  std::vector<RunTask> tasks_;
  std::vector<RunOutcome> outcomes_;
  int slots_ = 0;  // of states; the last one is the given state's
  DeviceBuffer<RunTask> task_buffer_;
  DeviceBuffer<RunReport> reports_;
  DeviceBuffer<double> entries_, whole_, offset_;
  DeviceBuffer<double> exact_logs_, exact_rows_;
  DeviceBuffer<int> has_log_, ring_scale_;
  DeviceBuffer<Real> ring_;
  DeviceBuffer<Junction> junction_buffer_;
  DeviceBuffer<JunctionResult> result_buffer_;
  RunParameters<Real> last_{};
  int last_blocks_ = 0;
};

}  // namespace semicrf::cuda
