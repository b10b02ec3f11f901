#include "cuda/chunk_pass.h"

#include <algorithm>
#include <limits>

namespace semicrf::cuda {
namespace {

// Device memory for the exact path's logarithms and for rings that do not fit into shared memory.
constexpr std::size_t kMostWorkspace = std::size_t(2) << 30;

template <class T>
T ceil_div(T a, T b) {
  return (a + b - 1) / b;
}

int multiprocessors() {
  int device = 0, count = 1;
  SEMICRF_CUDA_CHECK(cudaGetDevice(&device));
  SEMICRF_CUDA_CHECK(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

}  // namespace

template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::make_tasks(const PassPlan& plan, const DeviceWindow& window) {
  tasks_.clear();
  outcomes_.clear();
  const std::int64_t length = window.view().length;
  const std::int64_t rounded = ceil_div<std::int64_t>(length, kBlock) * kBlock;
  const bool forward = plan.direction == Direction::kForward;
  int slot = 0;
  const auto count = ceil_div(plan.range.size(), plan.run);
  for (std::int64_t n = 0; n < count; ++n) {
    const std::int64_t i = forward ? n : count - 1 - n;
    const std::int64_t left = plan.range.begin + i * plan.run;
    const PositionRange positions{left, std::min(left + plan.run, plan.range.end)};
    RunTask task{};
    task.begin = forward ? positions.begin : rounded - positions.end;
    task.end = forward ? positions.end : rounded - positions.begin;
    const std::int64_t first = forward ? 0 : rounded - length;
    const bool from_edge = task.begin - plan.warmup <= first;
    task.from = from_edge ? first : task.begin - plan.warmup;
    task.start = from_edge ? StartKind::kEdge : StartKind::kWarm;
    task.first_state = slot;
    RunOutcome outcome;
    outcome.range = positions;
    outcome.first_state = slot;
    slot += static_cast<int>(ceil_div(positions.size(), plan.mark)) + 1;
    outcome.last_state = slot - 1;
    tasks_.push_back(task);
    outcomes_.push_back(outcome);
  }
  slots_ = slot + 1;
}

template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::upload_state(const BoundaryState& state, int slot) {
  std::vector<double> entries = state.ring;
  entries.insert(entries.end(), state.message.begin(), state.message.end());
  entries.insert(entries.end(), state.tail.begin(), state.tail.end());
  entries.resize(static_cast<std::size_t>(stride()), kNegativeInfinity);
  const auto at = static_cast<std::size_t>(slot);
  SEMICRF_CUDA_CHECK(cudaMemcpyAsync(entries_.get() + slot * stride(), entries.data(),
                                     entries.size() * sizeof(double), cudaMemcpyHostToDevice, stream_));
  SEMICRF_CUDA_CHECK(
      cudaMemcpyAsync(whole_.get() + at, &state.whole, sizeof(double), cudaMemcpyHostToDevice, stream_));
  SEMICRF_CUDA_CHECK(
      cudaMemcpyAsync(offset_.get() + at, &state.offset, sizeof(double), cudaMemcpyHostToDevice, stream_));
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

template <class Real, class Semiring>
BoundaryState ChunkPass<Real, Semiring>::download_state(int slot, std::int64_t boundary) const {
  const auto& t = chain_.host();
  std::vector<double> entries(static_cast<std::size_t>(stride()));
  BoundaryState state;
  state.boundary = boundary;
  entries_.download(entries.data(), static_cast<std::size_t>(slot * stride()), entries.size(), stream_);
  whole_.download(&state.whole, static_cast<std::size_t>(slot), 1, stream_);
  offset_.download(&state.offset, static_cast<std::size_t>(slot), 1, stream_);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  const auto labels = static_cast<std::ptrdiff_t>(t.labels);
  const auto message = entries.begin() + static_cast<std::ptrdiff_t>(t.duration) * labels;
  state.ring.assign(entries.begin(), message);
  state.message.assign(message, message + labels);
  if (t.tail) state.tail.assign(message + labels, message + 2 * labels);
  return state;
}

template <class Real, class Semiring>
std::size_t ChunkPass<Real, Semiring>::workspace_bytes(std::size_t tasks) const {
  const auto& t = chain_.host();
  const auto cells = static_cast<std::size_t>(t.ring_blocks) * static_cast<std::size_t>(t.labels);
  const std::size_t per_team = cells * (kBlock + 1) * sizeof(double) +
                               (3 * kBlock + 2) * static_cast<std::size_t>(t.labels) * sizeof(double) +
                               (tile_.ring_in_shared ? 0 : cells * (kBlock * sizeof(Real) + sizeof(int)));
  const std::size_t teams = std::max<std::size_t>(1, std::min(tasks, kMostWorkspace / per_team));
  return per_team * (teams + static_cast<std::size_t>(tile_.teams_per_block));
}

// Tasks [first, first + count).
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::launch(const PassPlan& plan, const DeviceWindow& window,
                                       StoreBuffers<Real>* store, std::size_t first, std::size_t count) {
  const auto& t = chain_.host();
  task_buffer_.upload(tasks_.data() + first, count, stream_);
  RunParameters<Real> p{};
  p.tables = chain_.view();
  p.sequences = window.on_device();
  p.tasks = task_buffer_.get();
  p.reports = reports_.get() + first;
  p.states = states();
  if (store != nullptr) p.store = store->view();
  p.mark = plan.mark;
  p.num_tasks = static_cast<int>(count);
  p.backward = plan.direction == Direction::kBackward ? 1 : 0;
  p.panels = tile_.panels;
  p.parts = tile_.parts;
  p.table_in_shared = tile_.table_in_shared ? 1 : 0;
  p.ring_in_shared = tile_.ring_in_shared ? 1 : 0;
  p.transitions_in_shared = tile_.transitions_in_shared ? 1 : 0;

  last_tile_ = spread(tile_, count, multiprocessors());
  const auto per_block = static_cast<std::size_t>(last_tile_.teams_per_block);
  const auto cells = static_cast<std::size_t>(t.ring_blocks) * static_cast<std::size_t>(t.labels);
  std::size_t blocks = std::min(ceil_div(count, per_block),
                                static_cast<std::size_t>(resident_blocks<Real, Semiring>(last_tile_)));
  const std::size_t per_team = workspace_bytes(0) / (1 + static_cast<std::size_t>(tile_.teams_per_block));
  blocks = std::max<std::size_t>(1, std::min(blocks, kMostWorkspace / (per_team * per_block)));
  const std::size_t teams = blocks * per_block;
  p.teams = static_cast<int>(teams);
  exact_logs_.reserve(teams * cells * (kBlock + 1));
  exact_rows_.reserve(teams * (3 * kBlock + 2) * static_cast<std::size_t>(t.labels));
  has_log_.reserve(teams * static_cast<std::size_t>(t.ring_blocks));
  if (!tile_.ring_in_shared) {
    ring_.reserve(teams * cells * kBlock);
    ring_scale_.reserve(teams * cells);
  }
  p.exact_logs = exact_logs_.get();
  p.exact_rows = exact_rows_.get();
  p.ring_has_log = has_log_.get();
  p.ring = ring_.get();
  p.ring_scale = ring_scale_.get();
  last_ = p;
  last_blocks_ = static_cast<int>(blocks);
  launch_runs<Real, Semiring>(last_tile_, last_blocks_, p, stream_);
}

template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::relaunch(const RunParameters<Real>& parameters) const {
  launch_runs<Real, Semiring>(last_tile_, last_blocks_, parameters, stream_);
}

template <class Real, class Semiring>
std::vector<JunctionResult> ChunkPass<Real, Semiring>::compare(const std::vector<Junction>& junctions) {
  junction_buffer_.upload(junctions, stream_);
  result_buffer_.reserve(junctions.size());
  compare_states(states(), junction_buffer_.get(), static_cast<int>(junctions.size()), tolerance_,
                 static_cast<double>(std::numeric_limits<Real>::epsilon()), result_buffer_.get(), stream_);
  return result_buffer_.download(junctions.size(), stream_);
}

template <class Real, class Semiring>
std::vector<RunOutcome> ChunkPass<Real, Semiring>::run(const PassPlan& plan, const DeviceWindow& window,
                                                       const BoundaryState* given,
                                                       StoreBuffers<Real>* store) {
  make_tasks(plan, window);
  const auto slots = static_cast<std::size_t>(slots_);
  entries_.reserve(slots * static_cast<std::size_t>(stride()));
  whole_.reserve(slots);
  offset_.reserve(slots);
  reports_.reserve(tasks_.size());
  whole_.clear(slots, stream_);
  offset_.clear(slots, stream_);
  const int given_slot = slots_ - 1;
  if (given != nullptr) upload_state(*given, given_slot);

  const auto launch_all = [&] {
    if (store != nullptr) store->clear_pool(stream_);
    launch(plan, window, store, 0, tasks_.size());
  };
  launch_all();
  if (store != nullptr) {
    const auto used = static_cast<std::size_t>(store->pool_used(stream_));
    if (used > store->pool_slots()) {
      store->reserve_pool(used + used / 8);
      launch_all();
    }
  }

  const auto before = [&](std::size_t i) { return i == 0 ? given_slot : outcomes_[i - 1].last_state; };
  std::vector<Junction> junctions;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (i > 0 || given != nullptr) junctions.push_back({before(i), outcomes_[i].first_state});
  }
  std::vector<JunctionResult> results = compare(junctions);
  if (given == nullptr) results.insert(results.begin(), JunctionResult{0, 1});
  std::vector<double> whole = whole_.download(slots, stream_);
  std::vector<double> offset = offset_.download(slots, stream_);

  // What the truth where a run begins is relative to, all joins before it included.
  double truth_whole = given != nullptr ? given->whole : 0;
  double truth_offset = given != nullptr ? given->offset : 0;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    RunOutcome& outcome = outcomes_[i];
    const auto entry = static_cast<std::size_t>(outcome.first_state);
    const auto exit = static_cast<std::size_t>(outcome.last_state);
    const bool joins = i > 0 || given != nullptr;
    if (joins && results[i].agree == 0) {
      outcome.repaired = true;
      // The slot holds what its run was relative to; the truth is relative to more.
      tasks_[i].start_whole = truth_whole;
      tasks_[i].start_offset = truth_offset;
      tasks_[i].start = StartKind::kState;
      tasks_[i].start_state = before(i);
      tasks_[i].from = tasks_[i].begin;
      launch(plan, window, store, i, 1);
      if (store != nullptr && static_cast<std::size_t>(store->pool_used(stream_)) > store->pool_slots()) {
        // Too many exact blocks to keep: begin again with more room.
        store->reserve_pool(store->pool_slots() + static_cast<std::size_t>(store->pool_used(stream_)));
        return run(plan, window, given, store);
      }
      whole_.download(&whole[exit], exit, 1, stream_);
      offset_.download(&offset[exit], exit, 1, stream_);
      SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
      if (i + 1 < tasks_.size())
        results[i + 1] = compare({{outcome.last_state, outcomes_[i + 1].first_state}})[0];
    } else if (joins) {
      outcome.whole = truth_whole - whole[entry];
      outcome.offset = (truth_offset - offset[entry]) + results[i].mean;
    }
    truth_whole = whole[exit] + outcome.whole;
    truth_offset = offset[exit] + outcome.offset;
  }
  const std::vector<RunReport> reports = reports_.download(tasks_.size(), stream_);
  for (std::size_t i = 0; i < tasks_.size(); ++i) outcomes_[i].report = reports[i];
  return outcomes_;
}

template class ChunkPass<float, LogSemiring>;
template class ChunkPass<float, MaxSemiring>;
template class ChunkPass<double, LogSemiring>;
template class ChunkPass<double, MaxSemiring>;

}  // namespace semicrf::cuda
