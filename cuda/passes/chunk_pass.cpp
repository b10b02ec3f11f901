#include "cuda/passes/chunk_pass.h"

#include <algorithm>
#include <limits>

#include "core/sizes.h"

namespace semicrf::cuda {

template <class Real, class Semiring>
ChunkPass<Real, Semiring>::ChunkPass(const DeviceContext& context, Direction direction)
    : direction_(direction),
      stream_((direction == Direction::kForward ? context.stream : context.backward_stream).get()),
      chain_(context.model, direction, context.tile, stream_),
      launcher_(context.tile),
      runs_(direction, run_warmup(context.grid, sizeof(Real))) {
  host_pool_.reserve(1);
}

template <class Real, class Semiring>
StateStore ChunkPass<Real, Semiring>::states() const {
  return {entries_.get(), results_.device().whole, results_.device().offset, stride()};
}

template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::upload_state(const BoundaryState& state, int slot) {
  const std::vector<double> entries = entries_of(state);
  const auto upload = [&](double* to, const double* from, std::size_t count) {
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(to, from, count * sizeof(double), cudaMemcpyHostToDevice, stream_));
  };
  upload(entries_.get() + slot * stride(), entries.data(), entries.size());
  upload(results_.device().whole + slot, &state.whole, 1);
  upload(results_.device().offset + slot, &state.offset, 1);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
}

template <class Real, class Semiring>
BoundaryState ChunkPass<Real, Semiring>::state_in(int slot) const {
  const auto& t = chain_.host();
  std::vector<double> other;
  const double* entries = host_state_.get();
  if (slot != last_slot_) {
    other.resize(wide(stride()));
    entries_.download(other.data(), wide(slot * stride()), other.size(), stream_);
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
    entries = other.data();
  }
  BoundaryState state;
  state.whole = results_.host().whole[slot];
  state.offset = results_.host().offset[slot];
  const double* const message = entries + wide(t.duration) * wide(t.labels);
  state.ring.assign(entries, message);
  state.message.assign(message, message + t.labels);
  if (t.tail) state.tail.assign(message + t.labels, message + 2 * t.labels);
  return state;
}

template <class Real, class Semiring>
BoundaryState ChunkPass<Real, Semiring>::state_at_begin() const {
  BoundaryState state = state_in(outcomes().front().first_state);
  const PositionRange range = layout_.sequences.front().range;
  state.boundary = direction_ == Direction::kForward ? range.begin : range.end;
  return state;
}

template <class Real, class Semiring>
BoundaryState ChunkPass<Real, Semiring>::state_at_end(std::size_t sequence) const {
  const RunOutcome& last = runs_.last_of(sequence);
  BoundaryState state;
  if (layout_.alone() || chain_.host().cut_end != 0) {
    state = state_in(last.last_state);
  } else {
    const auto labels = wide(chain_.host().labels);
    const double* const message = results_.host().messages + sequence * labels;
    state.whole = results_.host().whole[last.last_state];
    state.offset = results_.host().offset[last.last_state];
    state.message.assign(message, message + labels);
  }
  const PositionRange range = layout_.sequences[sequence].range;
  state.boundary = direction_ == Direction::kForward ? range.end : range.begin;
  state.whole += last.whole;
  state.offset += last.offset;
  return state;
}

// The first `count` queues of runs on the device, or, without `queues`, so many single runs. Reports go to
// slots from `first_report` on.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::launch(std::size_t count, const int* queues, std::size_t first_report) {
  RunParameters<Real> p{};
  p.tables = chain_.view();
  p.sequences = sequences_;
  p.tasks = runs_.tasks();
  p.reports = results_.device().reports + first_report;
  p.states = states();
  if (store_ != nullptr) p.store = store_->view();
  p.queues = queues;
  p.num_queues = static_cast<int>(count);
  p.backward = direction_ == Direction::kBackward ? 1 : 0;
  launcher_.launch(p, stream_);
}

// The first `count` junctions.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::compare(std::size_t count) {
  normalize_states(states(), runs_.given_slot(), stream_);
  constexpr Precision kPrecision = sizeof(Real) == sizeof(float) ? Precision::kFloat : Precision::kDouble;
  const AgreementRule rule{kTolerance<Real>,
                           static_cast<double>(std::numeric_limits<Real>::epsilon()),
                           negligible_beside(kPrecision),
                           chain_.host().duration,
                           chain_.host().labels,
                           chain_.edge_twins()};
  compare_states(states(), runs_.junctions(), static_cast<int>(count), rule, results_.device().junctions,
                 stream_);
}

// With the state where the only sequence ends, or the messages where several do. Asynchronous.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::download_results() {
  const auto& t = chain_.host();
  if (layout_.alone()) {
    last_slot_ = outcomes().back().last_state;
    entries_.download(host_state_.get(), wide(last_slot_ * stride()), wide(stride()), stream_);
  } else {
    gather_messages(states(), t.duration, t.labels, runs_.final_slots(), static_cast<int>(runs_.sequences()),
                    results_.device().messages, stream_);
  }
  results_.download(repaired_, stream_);
  if (store_ != nullptr) store_->download_pool_used(host_pool_.get(), stream_);
}

template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::pool_sufficed() const {
  return store_ == nullptr || wide(*host_pool_.get()) <= store_->pool_slots();
}

template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::begin(const SequenceLayout& layout, const SequenceView* sequences,
                                      const BoundaryState* given, MessageBuffers<Real>* store) {
  layout_ = layout;
  sequences_ = sequences;
  given_ = given;
  store_ = store;
  runs_.cut(layout_, given != nullptr, chain_.host().cut_begin != 0);
  start();
}

// Gives the whole pass to the stream.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::start() {
  repaired_ = 0;
  last_slot_ = -1;
  host_state_.reserve(wide(stride()));
  entries_.reserve(runs_.slots() * wide(stride()));
  const std::size_t messages = layout_.alone() ? 0 : runs_.sequences() * wide(chain_.host().labels);
  results_.begin({runs_.slots(), runs_.count(), messages}, stream_);
  if (given_ != nullptr) upload_state(*given_, runs_.given_slot());
  if (const double* const at_cut = chain_.state_at_cut(); at_cut != nullptr)
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(entries_.get() + runs_.given_slot() * stride(), at_cut,
                                       wide(stride()) * sizeof(double), cudaMemcpyDeviceToDevice, stream_));
  if (store_ != nullptr) store_->clear_pool(stream_);
  runs_.list(stream_);
  launch(runs_.queues(), runs_.first_of_queues(), 0);
  runs_.make_outcomes();  // beside the kernel
  compare(runs_.count());
  download_results();
}

template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::settled() const {
  const JunctionResult* const joins = results_.host().junctions;
  return pool_sufficed() && std::all_of(joins, joins + runs_.count(),
                                        [](const JunctionResult& join) { return join.agree != 0; });
}

template <class Real, class Semiring>
const std::vector<RunOutcome>& ChunkPass<Real, Semiring>::run(const SequenceLayout& layout,
                                                              const SequenceView* sequences,
                                                              const BoundaryState* given,
                                                              MessageBuffers<Real>* store) {
  begin(layout, sequences, given, store);
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  return finish();
}

// The pass starts again where exact blocks had no room, then with more of it, and where runs were repaired
// too early, then one by one.
template <class Real, class Semiring>
const std::vector<RunOutcome>& ChunkPass<Real, Semiring>::finish() {
  bool one_by_one = false;
  for (;;) {
    const Repair state = pool_sufficed() ? repair_all(one_by_one) : Repair::kPoolFull;
    if (state == Repair::kDone) break;
    if (state == Repair::kTooEarly) {
      one_by_one = true;
    } else {
      const std::size_t used = wide(*host_pool_.get());
      store_->reserve_pool(used + used / 8);
    }
    start();
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  join_runs(given_);
  return outcomes();
}

template <class Real, class Semiring>
auto ChunkPass<Real, Semiring>::repair_all(bool one_by_one) -> Repair {
  const JunctionResult* const joins = results_.host().junctions;
  joins_.assign(joins, joins + runs_.count());
  for (;;) {
    const std::vector<std::size_t> failed = failed_runs(one_by_one);
    if (failed.empty()) return Repair::kDone;
    const Repair state = repair(failed);
    if (state != Repair::kDone) return state;
  }
}

template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::join(const BoundaryState& given) {
  upload_state(given, runs_.given_slot());
  runs_.list_again({}, {{runs_.given_slot(), outcomes().front().first_state}}, stream_);
  compare(1);
  JunctionResult result{};
  SEMICRF_CUDA_CHECK(
      cudaMemcpyAsync(&result, results_.device().junctions, sizeof(result), cudaMemcpyDeviceToHost, stream_));
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  if (result.agree == 0) return false;
  joins_.front() = result;
  join_runs(&given);
  return true;
}

// Runs that do not agree with the state they should have begun with, which is not about to change: the run
// before does agree. Of each sequence all of them, as failures are rare and hardly ever change what comes two
// runs later, or the first.
template <class Real, class Semiring>
std::vector<std::size_t> ChunkPass<Real, Semiring>::failed_runs(bool one_by_one) const {
  std::vector<std::size_t> failed;
  if (std::all_of(joins_.begin(), joins_.end(), [](const JunctionResult& join) { return join.agree != 0; }))
    return failed;
  bool before_fails = false, found = false;
  for (std::size_t i = 0; i < runs_.count(); ++i) {
    if (runs_.is_first(i)) before_fails = found = false;
    const bool fails = joined(i, given_) && !outcomes()[i].repaired && joins_[i].agree == 0;
    if (fails && !before_fails && !(found && one_by_one)) {
      failed.push_back(i);
      found = true;
    }
    before_fails = fails;
  }
  return failed;
}

// Runs from the states before them, and compares what follows them again.
template <class Real, class Semiring>
auto ChunkPass<Real, Semiring>::repair(const std::vector<std::size_t>& failed) -> Repair {
  std::vector<RunOutcome>& outcomes = runs_.outcomes();
  const std::size_t first_report = runs_.count() + repaired_;
  std::vector<RunTask> tasks;
  std::vector<Junction> junctions;
  for (const std::size_t i : failed) {
    RunTask& task = tasks.emplace_back(runs_.task(i));
    task.start = StartKind::kState;
    task.start_state = runs_.state_before(i);
    task.from = task.begin;
    outcomes[i].repaired = true;
    outcomes[i].report_slot = static_cast<int>(first_report + tasks.size() - 1);
    const int here = outcomes[i].last_state;
    junctions.push_back({here, runs_.is_last(i) ? here : outcomes[i + 1].first_state});
  }
  repaired_ += failed.size();
  runs_.list_again(tasks, junctions, stream_);
  launch(failed.size(), nullptr, first_report);
  compare(failed.size());
  download_results();
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  for (std::size_t n = 0; n < failed.size(); ++n) {
    const std::size_t next = failed[n] + 1;
    if (runs_.is_last(failed[n])) continue;
    // It was run again from what was not the truth yet, and its own start, with which the truth might have
    // agreed, is lost.
    if (outcomes[next].repaired) return Repair::kTooEarly;
    joins_[next] = results_.host().junctions[n];
  }
  return pool_sufficed() ? Repair::kDone : Repair::kPoolFull;
}

// Puts the values of all runs on the scale of the state that their sequence began with, and adds their
// reports.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::join_runs(const BoundaryState* given) {
  const PassResults::View& results = results_.host();
  double true_whole = 0, true_offset = 0;  // what the state where a run begins is relative to
  for (std::size_t i = 0; i < runs_.count(); ++i) {
    RunOutcome& outcome = runs_.outcomes()[i];
    outcome.report = results.reports[outcome.report_slot];
    if (runs_.is_first(i)) {
      true_whole = given != nullptr ? given->whole : 0;
      true_offset = given != nullptr ? given->offset : 0;
    }
    if (outcome.repaired) {
      outcome.whole = true_whole;
      outcome.offset = true_offset;
    } else if (joined(i, given)) {
      outcome.whole = true_whole - results.whole[outcome.first_state];
      outcome.offset = (true_offset - results.offset[outcome.first_state]) + joins_[i].mean;
    }
    true_whole = results.whole[outcome.last_state] + outcome.whole;
    true_offset = results.offset[outcome.last_state] + outcome.offset;
  }
}

template class ChunkPass<float, LogSemiring>;
template class ChunkPass<float, MaxSemiring>;
template class ChunkPass<double, LogSemiring>;
template class ChunkPass<double, MaxSemiring>;

}  // namespace semicrf::cuda
