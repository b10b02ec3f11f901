#include "cuda/chunk_pass.h"

#include <algorithm>
#include <limits>

#include "cuda/sizes.h"

namespace semicrf::cuda {
namespace {

// Device memory for the exact path's logarithms and for rings that do not fit into shared memory.
constexpr std::size_t kMostWorkspace = std::size_t(2) << 30;

// Doubles that these take among the results.
constexpr std::size_t kReportEntries = sizeof(RunReport) / sizeof(double);
constexpr std::size_t kJunctionEntries = sizeof(JunctionResult) / sizeof(double);
static_assert(sizeof(RunReport) % sizeof(double) == 0 && sizeof(JunctionResult) % sizeof(double) == 0);

}  // namespace

template <class Real, class Semiring>
ChunkPass<Real, Semiring>::ChunkPass(const ChainModel& model, Direction direction, const TileConfig& tile,
                                     double tolerance, cudaStream_t stream)
    : tile_(tile),
      multiprocessors_(device_attribute(cudaDevAttrMultiProcessorCount)),
      tolerance_(tolerance),
      stream_(stream),
      chain_(model, direction, tile, stream) {
  host_pool_.reserve(1);
}

// Tasks in the order of the pass; the slots of their states follow each other likewise.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::make_tasks() {
  tasks_.clear();
  const bool forward = plan_.direction == Direction::kForward;
  int slot = 0;
  for (std::size_t s = 0; s < plan_.layout.sequences.size(); ++s) {
    const PlacedSequence& sequence = plan_.layout.sequences[s];
    const std::int64_t rounded = ceil_div<std::int64_t>(sequence.length, kBlock) * kBlock;
    const std::int64_t first = forward ? 0 : rounded - sequence.length;
    const std::int64_t count = ceil_div(sequence.range.size(), sequence.run);
    RunTask task{};
    task.sequence = static_cast<int>(s);
    task.mark = sequence.mark;
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t left = sequence.range.begin + (forward ? n : count - 1 - n) * sequence.run;
      const PositionRange positions{left, std::min(left + sequence.run, sequence.range.end)};
      task.begin = forward ? positions.begin : rounded - positions.end;
      task.end = forward ? positions.end : rounded - positions.begin;
      const bool from_edge = task.begin - plan_.warmup <= first;
      task.from = from_edge ? first : task.begin - plan_.warmup;
      task.start = from_edge ? StartKind::kEdge : StartKind::kWarm;
      task.first_state = slot;
      slot += states_of(sequence, positions);
      tasks_.push_back(task);
    }
  }
  slots_ = static_cast<std::size_t>(slot) + 1;
}

// What is known of the runs beforehand, and the junctions: of every run the state of the run before it
// against its own; its own again where there is none.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::make_outcomes() {
  outcomes_.clear();
  outcomes_.reserve(tasks_.size());
  last_runs_.clear();
  const bool forward = plan_.direction == Direction::kForward;
  const Inputs up = inputs(host_inputs_.get());
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    const RunTask& task = tasks_[i];
    const PlacedSequence& sequence = plan_.layout.sequences[wide(task.sequence)];
    const std::int64_t rounded = ceil_div<std::int64_t>(sequence.length, kBlock) * kBlock;
    RunOutcome& outcome = outcomes_.emplace_back();
    outcome.range = forward ? PositionRange{task.begin, task.end}
                            : PositionRange{rounded - task.end, rounded - task.begin};
    outcome.sequence = task.sequence;
    outcome.first_state = task.first_state;
    outcome.last_state = task.first_state + states_of(sequence, outcome.range) - 1;
    outcome.report_slot = static_cast<int>(i);
    up.junctions[i] = {is_first(i) && given_ == nullptr ? outcome.first_state : state_before(i),
                       outcome.first_state};
    if (!is_last(i)) continue;
    up.final_slots[last_runs_.size()] = outcome.last_state;
    last_runs_.push_back(i);
  }
}

template <class Real, class Semiring>
auto ChunkPass<Real, Semiring>::inputs(unsigned char* at) const -> Inputs {
  static_assert(sizeof(RunTask) % alignof(Junction) == 0 && sizeof(Junction) % alignof(int) == 0);
  auto* const tasks = reinterpret_cast<RunTask*>(at);
  auto* const junctions = reinterpret_cast<Junction*>(tasks + tasks_.size());
  return {tasks, junctions, reinterpret_cast<int*>(junctions + tasks_.size())};
}
// What lies in [begin, end) of the host's inputs.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::send_inputs(const void* begin, const void* end) {
  const auto* const from = static_cast<const unsigned char*>(begin);
  const std::ptrdiff_t at = from - host_inputs_.get();
  upload_bytes(inputs_.get() + at, from, wide(static_cast<const unsigned char*>(end) - from), stream_);
}
template <class Real, class Semiring>
int ChunkPass<Real, Semiring>::states_of(const PlacedSequence& sequence, PositionRange run) const {
  return static_cast<int>(ceil_div(run.size(), sequence.mark)) + 1;
}
template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::is_first(std::size_t i) const {
  return i == 0 || tasks_[i - 1].sequence != tasks_[i].sequence;
}
template <class Real, class Semiring>
int ChunkPass<Real, Semiring>::state_before(std::size_t i) const {
  return is_first(i) ? given_slot() : outcomes_[i - 1].last_state;
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
      cudaMemcpyAsync(whole() + at, &state.whole, sizeof(double), cudaMemcpyHostToDevice, stream_));
  SEMICRF_CUDA_CHECK(
      cudaMemcpyAsync(offset() + at, &state.offset, sizeof(double), cudaMemcpyHostToDevice, stream_));
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

template <class Real, class Semiring>
BoundaryState ChunkPass<Real, Semiring>::download_state(int slot, std::int64_t boundary) const {
  const auto& t = chain_.host();
  std::vector<double> other;
  const double* entries = host_state_.get();
  if (slot != brought_slot_) {
    other.resize(wide(stride()));
    entries_.download(other.data(), wide(slot * stride()), other.size(), stream_);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
    entries = other.data();
  }
  BoundaryState state;
  state.boundary = boundary;
  state.whole = host_results_.get()[slot];
  state.offset = host_results_.get()[slots_ + wide(slot)];
  const double* const message = entries + wide(t.duration) * wide(t.labels);
  state.ring.assign(entries, message);
  state.message.assign(message, message + t.labels);
  if (t.tail) state.tail.assign(message + t.labels, message + 2 * t.labels);
  return state;
}

template <class Real, class Semiring>
BoundaryState ChunkPass<Real, Semiring>::final_message(std::size_t sequence) const {
  const auto& t = chain_.host();
  const auto slot = wide(outcomes_[last_runs_[sequence]].last_state);
  const double* const message = final_messages(host_results_.get()) + sequence * wide(t.labels);
  BoundaryState state;
  state.boundary = plan_.layout.sequences[sequence].range.end;
  state.whole = host_results_.get()[slot];
  state.offset = host_results_.get()[slots_ + slot];
  state.message.assign(message, message + t.labels);
  return state;
}

template <class Real, class Semiring>
std::size_t ChunkPass<Real, Semiring>::workspace_bytes(std::size_t tasks) const {
  const auto& t = chain_.host();
  const auto cells = static_cast<std::size_t>(t.ring_blocks) * static_cast<std::size_t>(t.labels);
  const std::size_t per_team = cells * (kBlock + 1) * sizeof(double) +
                               kExactRows * static_cast<std::size_t>(t.labels) * sizeof(double) +
                               (tile_.ring_in_shared ? 0 : cells * (kBlock * sizeof(Real) + sizeof(int)));
  const std::size_t teams = std::max<std::size_t>(1, std::min(tasks, kMostWorkspace / per_team));
  return per_team * (teams + static_cast<std::size_t>(tile_.teams_per_block));
}

// The first `count` of the tasks on the device. Reports go to slots from `first_report` on.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::launch(std::size_t count, std::size_t first_report) {
  const auto& t = chain_.host();
  RunParameters<Real> p{};
  p.tables = chain_.view();
  p.sequences = sequences_;
  p.tasks = inputs(inputs_.get()).tasks;
  p.reports = reinterpret_cast<RunReport*>(offset() + slots_) + first_report;
  p.states = states();
  if (store_ != nullptr) p.store = store_->view();
  p.num_tasks = static_cast<int>(count);
  p.backward = plan_.direction == Direction::kBackward ? 1 : 0;
  p.panels = tile_.panels;
  p.parts = tile_.parts;
  p.table_in_shared = tile_.table_in_shared ? 1 : 0;
  p.ring_in_shared = tile_.ring_in_shared ? 1 : 0;
  p.transitions_in_shared = tile_.transitions_in_shared ? 1 : 0;

  last_tile_ = spread(tile_, count, multiprocessors_);
  std::size_t& resident = resident_[last_tile_.warps];
  if (resident == 0) resident = wide(resident_blocks<Real, Semiring>(last_tile_));
  const auto per_block = wide(last_tile_.teams_per_block);
  const auto cells = wide(t.ring_blocks) * wide(t.labels);
  std::size_t blocks = std::min(ceil_div(count, per_block), resident);
  const std::size_t per_team = workspace_bytes(0) / (1 + wide(tile_.teams_per_block));
  blocks = std::max<std::size_t>(1, std::min(blocks, kMostWorkspace / (per_team * per_block)));
  const std::size_t teams = blocks * per_block;
  p.teams = static_cast<int>(teams);
  exact_logs_.reserve(teams * cells * (kBlock + 1));
  exact_rows_.reserve(teams * kExactRows * wide(t.labels));
  has_log_.reserve(teams * wide(t.ring_blocks));
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

// The first `count` junctions.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::compare(std::size_t count) {
  normalize_states(states(), given_slot(), stream_);
  compare_states(states(), inputs(inputs_.get()).junctions, static_cast<int>(count), tolerance_,
                 static_cast<double>(std::numeric_limits<Real>::epsilon()), junction_results(results_.get()),
                 stream_);
}

template <class Real, class Semiring>
std::size_t ChunkPass<Real, Semiring>::result_entries() const {
  const std::size_t messages =
      plan_.layout.alone() ? 0 : plan_.layout.sequences.size() * wide(chain_.host().labels);
  return 2 * slots_ + tasks_.size() * (2 * kReportEntries + kJunctionEntries) + messages;
}
template <class Real, class Semiring>
const RunReport* ChunkPass<Real, Semiring>::host_reports() const {
  return reinterpret_cast<const RunReport*>(host_results_.get() + 2 * slots_);
}
template <class Real, class Semiring>
JunctionResult* ChunkPass<Real, Semiring>::junction_results(double* of) const {
  return reinterpret_cast<JunctionResult*>(of + 2 * slots_ + 2 * tasks_.size() * kReportEntries);
}
template <class Real, class Semiring>
double* ChunkPass<Real, Semiring>::final_messages(double* of) const {
  return reinterpret_cast<double*>(junction_results(of) + tasks_.size());
}

// And the state where a window ends.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::bring_results() {
  const auto& t = chain_.host();
  if (plan_.layout.alone()) {
    brought_slot_ = outcomes_.back().last_state;
    entries_.download(host_state_.get(), wide(brought_slot_ * stride()), wide(stride()), stream_);
  } else {
    gather_messages(states(), t.duration, t.labels, inputs(inputs_.get()).final_slots,
                    static_cast<int>(last_runs_.size()), final_messages(results_.get()), stream_);
  }
  results_.download(host_results_.get(), 0, result_entries(), stream_);
  if (store_ != nullptr) store_->bring_pool_used(host_pool_.get(), stream_);
}

template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::pool_sufficed() const {
  return store_ == nullptr || wide(*host_pool_.get()) <= store_->pool_slots();
}

template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::begin(const PassPlan& plan, const SequenceView* sequences,
                                      const BoundaryState* given, StoreBuffers<Real>* store) {
  plan_ = plan;
  sequences_ = sequences;
  given_ = given;
  store_ = store;
  repaired_ = 0;
  make_tasks();
  brought_slot_ = -1;
  host_state_.reserve(wide(stride()));
  const std::size_t sequence_count = plan_.layout.sequences.size();
  const std::size_t input_bytes =
      tasks_.size() * (sizeof(RunTask) + sizeof(Junction)) + sequence_count * sizeof(int);
  host_inputs_.reserve(input_bytes);
  inputs_.reserve(input_bytes);
  const Inputs up = inputs(host_inputs_.get());
  std::copy(tasks_.begin(), tasks_.end(), up.tasks);
  send_inputs(up.tasks, up.tasks + tasks_.size());
  entries_.reserve(slots_ * wide(stride()));
  results_.reserve(result_entries());
  host_results_.reserve(result_entries());
  results_.clear(result_entries(), stream_);
  if (given != nullptr) upload_state(*given, given_slot());
  if (store_ != nullptr) store_->clear_pool(stream_);
  launch(tasks_.size(), 0);
  // Beside the kernel.
  make_outcomes();
  send_inputs(up.junctions, up.final_slots + sequence_count);
  compare(tasks_.size());
  bring_results();
}

template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::launch_again() {
  if (store_ != nullptr) store_->clear_pool(stream_);
  launch(tasks_.size(), 0);
  compare(tasks_.size());
  bring_results();
}

template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::settled() const {
  const JunctionResult* const joins = junction_results(host_results_.get());
  return pool_sufficed() && std::all_of(joins, joins + tasks_.size(),
                                        [](const JunctionResult& join) { return join.agree != 0; });
}

template <class Real, class Semiring>
const std::vector<RunOutcome>& ChunkPass<Real, Semiring>::run(const PassPlan& plan,
                                                              const SequenceView* sequences,
                                                              const BoundaryState* given,
                                                              StoreBuffers<Real>* store) {
  begin(plan, sequences, given, store);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  return finish();
}

template <class Real, class Semiring>
const std::vector<RunOutcome>& ChunkPass<Real, Semiring>::finish() {
  if (!pool_sufficed()) {
    const auto used = wide(*host_pool_.get());
    store_->reserve_pool(used + used / 8);
    launch_again();
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  const JunctionResult* const joins = junction_results(host_results_.get());
  joins_.assign(joins, joins + tasks_.size());
  for (;;) {
    const std::vector<std::size_t> failed = failed_runs();
    if (failed.empty()) break;
    switch (repair(failed)) {
      case Repair::kDone:
        continue;
      case Repair::kPoolFull:  // begin again with more room
        store_->reserve_pool(store_->pool_slots() + wide(*host_pool_.get()));
        break;
      case Repair::kTooEarly:
        one_by_one_ = true;
        break;
    }
    return run(PassPlan(plan_), sequences_, given_, store_);
  }
  one_by_one_ = false;
  join_runs();
  for (RunOutcome& outcome : outcomes_) outcome.report = host_reports()[outcome.report_slot];
  return outcomes_;
}

// Runs that do not agree with the state they should have begun with, which is not about to change: the run
// before does agree. Of each sequence all of them, as failures are rare and hardly ever change what comes two
// runs later, or the first.
template <class Real, class Semiring>
std::vector<std::size_t> ChunkPass<Real, Semiring>::failed_runs() const {
  std::vector<std::size_t> failed;
  bool before_fails = false, taken = false;
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    if (is_first(i)) before_fails = taken = false;
    const bool fails = joined(i) && !outcomes_[i].repaired && joins_[i].agree == 0;
    if (fails && !before_fails && !(taken && one_by_one_)) {
      failed.push_back(i);
      taken = true;
    }
    before_fails = fails;
  }
  return failed;
}

// Runs from the states before them, and compares what follows them again.
template <class Real, class Semiring>
auto ChunkPass<Real, Semiring>::repair(const std::vector<std::size_t>& failed) -> Repair {
  const std::size_t first_report = tasks_.size() + repaired_;
  const Inputs up = inputs(host_inputs_.get());
  for (std::size_t n = 0; n < failed.size(); ++n) {
    const std::size_t i = failed[n];
    tasks_[i].start = StartKind::kState;
    tasks_[i].start_state = state_before(i);
    tasks_[i].from = tasks_[i].begin;
    outcomes_[i].repaired = true;
    outcomes_[i].report_slot = static_cast<int>(first_report + n);
    up.tasks[n] = tasks_[i];
    const int here = outcomes_[i].last_state;
    up.junctions[n] = {here, is_last(i) ? here : outcomes_[i + 1].first_state};
  }
  repaired_ += failed.size();
  send_inputs(up.tasks, up.tasks + failed.size());
  send_inputs(up.junctions, up.junctions + failed.size());
  launch(failed.size(), first_report);
  compare(failed.size());
  bring_results();
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  for (std::size_t n = 0; n < failed.size(); ++n) {
    const std::size_t next = failed[n] + 1;
    if (is_last(failed[n])) continue;
    // It was run again from what was not the truth yet, and its own start, with which the truth might have
    // agreed, is lost.
    if (outcomes_[next].repaired) return Repair::kTooEarly;
    joins_[next] = junction_results(host_results_.get())[n];
  }
  return pool_sufficed() ? Repair::kDone : Repair::kPoolFull;
}

// Puts the values of all runs on the scale of the state that their sequence began with.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::join_runs() {
  const double* const whole = host_results_.get();
  const double* const offset = whole + slots_;
  double true_whole = 0, true_offset = 0;  // what the state where a run begins is relative to
  for (std::size_t i = 0; i < tasks_.size(); ++i) {
    RunOutcome& outcome = outcomes_[i];
    const auto entry = wide(outcome.first_state);
    const auto exit = wide(outcome.last_state);
    if (is_first(i)) {
      true_whole = given_ != nullptr ? given_->whole : 0;
      true_offset = given_ != nullptr ? given_->offset : 0;
    }
    if (outcome.repaired) {
      outcome.whole = true_whole;
      outcome.offset = true_offset;
    } else if (joined(i)) {
      outcome.whole = true_whole - whole[entry];
      outcome.offset = (true_offset - offset[entry]) + joins_[i].mean;
    }
    true_whole = whole[exit] + outcome.whole;
    true_offset = offset[exit] + outcome.offset;
  }
}

template class ChunkPass<float, LogSemiring>;
template class ChunkPass<float, MaxSemiring>;
template class ChunkPass<double, LogSemiring>;
template class ChunkPass<double, MaxSemiring>;

}  // namespace semicrf::cuda
