#include "cuda/passes/chunk_pass.h"

#include <algorithm>
#include <limits>

#include "core/sizes.h"

namespace semicrf::cuda {
namespace {

// Device memory for the exact path's logarithms and for rings that do not fit into shared memory.
constexpr std::size_t kMostWorkspace = std::size_t(2) << 30;

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

// Runs in the order of the pass; the slots of their states follow each other likewise.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::list_sequences() {
  listed_.clear();
  int runs = 0, slots = 0;
  for (const PlacedSequence& sequence : plan_.layout.sequences) {
    RunSequence listed{};
    listed.begin = sequence.range.begin;
    listed.end = sequence.range.end;
    listed.length = sequence.length;
    listed.run = sequence.run;
    listed.mark = sequence.mark;
    listed.first_run = runs;
    listed.runs = static_cast<int>(ceil_div(sequence.range.size(), sequence.run));
    listed.first_slot = slots;
    runs += listed.runs;
    slots += (listed.runs - 1) * listed.states(listed.run) + listed.states(listed.rest());
    listed_.push_back(listed);
  }
  runs_ = wide(runs);
  slots_ = wide(slots) + 1;
}

template <class Real, class Semiring>
RunListing ChunkPass<Real, Semiring>::listing(const RunSequence* sequences) const {
  return {sequences,
          static_cast<int>(listed_.size()),
          static_cast<int>(runs_),
          plan_.direction == Direction::kBackward ? 1 : 0,
          given_ != nullptr ? given_slot() : -1,
          plan_.warmup};
}

template <class Real, class Semiring>
RunTask ChunkPass<Real, Semiring>::task_of(std::size_t i) const {
  const int s = outcomes_[i].sequence;
  return listed_run(listing(listed_.data()), s, static_cast<int>(i) - listed_[wide(s)].first_run);
}

// What is known of the runs beforehand.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::make_outcomes() {
  outcomes_.clear();
  outcomes_.reserve(runs_);
  last_runs_.clear();
  const bool forward = plan_.direction == Direction::kForward;
  const RunListing listing_here = listing(listed_.data());
  for (const RunSequence& sequence : listed_) {
    const std::int64_t rounded = ceil_div<std::int64_t>(sequence.length, kBlock) * kBlock;
    const int s = static_cast<int>(&sequence - listed_.data());
    for (int n = 0; n < sequence.runs; ++n) {
      const RunTask task = listed_run(listing_here, s, n);
      RunOutcome& outcome = outcomes_.emplace_back();
      outcome.range = forward ? PositionRange{task.begin, task.end}
                              : PositionRange{rounded - task.end, rounded - task.begin};
      outcome.sequence = s;
      outcome.first_state = task.first_state;
      outcome.last_state = task.first_state + sequence.states(outcome.range.size()) - 1;
      outcome.report_slot = static_cast<int>(outcomes_.size()) - 1;
    }
    last_runs_.push_back(outcomes_.size() - 1);
  }
}

template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::is_first(std::size_t i) const {
  return i == 0 || outcomes_[i - 1].sequence != outcomes_[i].sequence;
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
  const double* const message = messages_in(host_results_.get()) + sequence * wide(t.labels);
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
  p.tasks = tasks_.get();
  p.reports = reports_in(results_.get()) + first_report;
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
  compare_states(states(), junctions_.get(), static_cast<int>(count), tolerance_,
                 static_cast<double>(std::numeric_limits<Real>::epsilon()), junctions_in(results_.get()),
                 stream_);
}

template <class Real, class Semiring>
std::size_t ChunkPass<Real, Semiring>::entries_before_reports() const {
  const std::size_t messages =
      plan_.layout.alone() ? 0 : plan_.layout.sequences.size() * wide(chain_.host().labels);
  return 2 * slots_ + runs_ * kJunctionEntries + messages;
}
template <class Real, class Semiring>
std::size_t ChunkPass<Real, Semiring>::result_entries(std::size_t repaired) const {
  return entries_before_reports() + (runs_ + repaired) * kReportEntries;
}

// And the state where a window ends.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::bring_results() {
  const auto& t = chain_.host();
  if (plan_.layout.alone()) {
    brought_slot_ = outcomes_.back().last_state;
    entries_.download(host_state_.get(), wide(brought_slot_ * stride()), wide(stride()), stream_);
  } else {
    gather_messages(states(), t.duration, t.labels, final_slots_.get(), static_cast<int>(last_runs_.size()),
                    messages_in(results_.get()), stream_);
  }
  results_.download(host_results_.get(), 0, result_entries(repaired_), stream_);
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
  list_sequences();
  brought_slot_ = -1;
  host_state_.reserve(wide(stride()));
  sequence_list_.reserve(listed_.size());
  tasks_.reserve(runs_);
  junctions_.reserve(runs_);
  final_slots_.reserve(listed_.size());
  upload_bytes(sequence_list_.get(), listed_.data(), listed_.size() * sizeof(RunSequence), stream_);
  entries_.reserve(slots_ * wide(stride()));
  // Every run may have to be repaired.
  const std::size_t most_results = result_entries(runs_);
  results_.reserve(most_results);
  host_results_.reserve(most_results);
  results_.clear(most_results, stream_);
  if (given != nullptr) upload_state(*given, given_slot());
  if (store_ != nullptr) store_->clear_pool(stream_);
  list_runs(listing(sequence_list_.get()), tasks_.get(), junctions_.get(), final_slots_.get(), stream_);
  launch(runs_, 0);
  make_outcomes();  // beside the kernel
  compare(runs_);
  bring_results();
}

template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::launch_again() {
  if (store_ != nullptr) store_->clear_pool(stream_);
  launch(runs_, 0);
  compare(runs_);
  bring_results();
}

template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::settled() const {
  const JunctionResult* const joins = junctions_in(host_results_.get());
  return pool_sufficed() &&
         std::all_of(joins, joins + runs_, [](const JunctionResult& join) { return join.agree != 0; });
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
  const JunctionResult* const joins = junctions_in(host_results_.get());
  joins_.assign(joins, joins + runs_);
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
  return outcomes_;
}

template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::join(const BoundaryState& given) {
  const Junction junction{given_slot(), outcomes_.front().first_state};
  upload_state(given, given_slot());
  upload_bytes(junctions_.get(), &junction, sizeof(junction), stream_);
  compare(1);
  JunctionResult result{};
  SEMICRF_CUDA_CHECK(cudaMemcpyAsync(&result, junctions_in(results_.get()), sizeof(result),
                                     cudaMemcpyDeviceToHost, stream_));
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  if (result.agree == 0) return false;
  joins_.front() = result;
  given_ = &given;
  join_runs();
  given_ = nullptr;
  return true;
}

// Runs that do not agree with the state they should have begun with, which is not about to change: the run
// before does agree. Of each sequence all of them, as failures are rare and hardly ever change what comes two
// runs later, or the first.
template <class Real, class Semiring>
std::vector<std::size_t> ChunkPass<Real, Semiring>::failed_runs() const {
  std::vector<std::size_t> failed;
  if (std::all_of(joins_.begin(), joins_.end(), [](const JunctionResult& join) { return join.agree != 0; }))
    return failed;
  bool before_fails = false, taken = false;
  for (std::size_t i = 0; i < runs_; ++i) {
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
  const std::size_t first_report = runs_ + repaired_;
  std::vector<RunTask> tasks;
  std::vector<Junction> junctions;
  for (const std::size_t i : failed) {
    RunTask& task = tasks.emplace_back(task_of(i));
    task.start = StartKind::kState;
    task.start_state = state_before(i);
    task.from = task.begin;
    outcomes_[i].repaired = true;
    outcomes_[i].report_slot = static_cast<int>(first_report + tasks.size() - 1);
    const int here = outcomes_[i].last_state;
    junctions.push_back({here, is_last(i) ? here : outcomes_[i + 1].first_state});
  }
  repaired_ += failed.size();
  upload_bytes(tasks_.get(), tasks.data(), tasks.size() * sizeof(RunTask), stream_);
  upload_bytes(junctions_.get(), junctions.data(), junctions.size() * sizeof(Junction), stream_);
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
    joins_[next] = junctions_in(host_results_.get())[n];
  }
  return pool_sufficed() ? Repair::kDone : Repair::kPoolFull;
}

// Puts the values of all runs on the scale of the state that their sequence began with, and adds their
// reports.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::join_runs() {
  const double* const whole = host_results_.get();
  const double* const offset = whole + slots_;
  const RunReport* const reports = reports_in(host_results_.get());
  double true_whole = 0, true_offset = 0;  // what the state where a run begins is relative to
  for (std::size_t i = 0; i < runs_; ++i) {
    RunOutcome& outcome = outcomes_[i];
    outcome.report = reports[outcome.report_slot];
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
