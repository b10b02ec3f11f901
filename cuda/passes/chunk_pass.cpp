#include "cuda/passes/chunk_pass.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/sizes.h"

namespace semicrf::cuda {

template <class Real, class Semiring>
ChunkPass<Real, Semiring>::ChunkPass(const DeviceContext& context, Direction direction)
    : direction_(direction),
      repair_reach_(context.rules.repair_reach),
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
void ChunkPass<Real, Semiring>::upload_given(const BoundaryState& state) {
  const int slot = runs_.given_slot();
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
  state.earlier = earlier_ends_;
  return state;
}

// The first `count` queues of runs on the device, or, without `queues`, so many single runs.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::launch(std::size_t count, const int* queues) {
  RunParameters<Real> p{};
  p.tables = chain_.view();
  p.sequences = sequences_;
  p.tasks = runs_.tasks();
  p.reports = results_.device().reports;
  p.states = states();
  if (store_ != nullptr) p.store = store_->view();
  p.queues = queues;
  p.num_queues = static_cast<int>(count);
  p.backward = direction_ == Direction::kBackward ? 1 : 0;
  launcher_.launch(p, stream_);
}

// `count` junctions of the list, from `first` on.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::compare(std::size_t first, std::size_t count, double tolerance) {
  if (count == 0) return;
  constexpr Precision kPrecision = sizeof(Real) == sizeof(float) ? Precision::kFloat : Precision::kDouble;
  const AgreementRule rule{tolerance,
                           static_cast<double>(std::numeric_limits<Real>::epsilon()),
                           negligible_beside(kPrecision),
                           chain_.host().duration,
                           chain_.host().labels,
                           chain_.edge_twins()};
  compare_states(states(), runs_.junctions() + first, static_cast<int>(count), rule,
                 results_.device().junctions, stream_);
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
  results_.download(stream_);
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
  round_ = 0;
  earlier_ends_.clear();
  end_round_ = 0;
  last_slot_ = -1;
  host_state_.reserve(wide(stride()));
  entries_.reserve(runs_.slots() * wide(stride()));
  const std::size_t messages = layout_.alone() ? 0 : runs_.sequences() * wide(chain_.host().labels);
  results_.begin({runs_.slots(), runs_.count(), messages}, stream_);
  if (given_ != nullptr) upload_given(given_after(0));
  if (const double* const at_cut = chain_.state_at_cut(); at_cut != nullptr)
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(entries_.get() + runs_.given_slot() * stride(), at_cut,
                                       wide(stride()) * sizeof(double), cudaMemcpyDeviceToDevice, stream_));
  if (store_ != nullptr) store_->clear_marks(stream_);
  runs_.list(stream_);
  launch(runs_.queues(), runs_.first_of_queues());
  runs_.make_outcomes();  // beside the kernel
  normalize_states(states(), 0, runs_.given_slot(), stream_);
  compare(0, runs_.count(), kTolerance<Real>);
  download_results();
}

template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::settled() const {
  const JunctionResult* const joins = results_.host().junctions;
  const bool given_stays = given_ == nullptr || given_->earlier.empty();
  return given_stays && pool_sufficed() &&
         std::all_of(joins, joins + runs_.count(),
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

// The pass starts again, with more room, where exact blocks had none.
template <class Real, class Semiring>
const std::vector<RunOutcome>& ChunkPass<Real, Semiring>::finish() {
  while (!pool_sufficed() || !repair_all()) {
    const std::size_t used = wide(*host_pool_.get());
    store_->reserve_pool(used + used / 8);
    start();
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  }
  join_runs(given_);
  return outcomes();
}

// Round by round, until all runs agree with what stands before them. False: exact blocks have no room.
template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::repair_all() {
  const JunctionResult* const joins = results_.host().junctions;
  joins_.assign(joins, joins + runs_.count());
  const int last_change = given_ == nullptr || given_->earlier.empty() ? 0 : given_->earlier.back().replaced;
  for (;;) {
    ++round_;
    std::vector<std::size_t> failed = failed_runs();
    if (end_impossible_sequences(failed)) failed = failed_runs();
    if (failed.empty() && round_ > last_change) return true;
    repair(failed);
    if (!pool_sufficed()) return false;
  }
}

template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::join(const BoundaryState& given) {
  runs_.list_again({}, {{runs_.given_slot(), outcomes().front().first_state}}, stream_);
  double tolerance = kTolerance<Real>;
  const auto agrees = [&](const BoundaryState& truth) {
    upload_given(truth);
    compare(0, 1, std::exchange(tolerance, kToleranceOfRepairs * kTolerance<Real>));
    SEMICRF_CUDA_CHECK(cudaMemcpyAsync(&joins_.front(), results_.device().junctions, sizeof(JunctionResult),
                                       cudaMemcpyDeviceToHost, stream_));
    SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
    return joins_.front().agree != 0;
  };
  if (!std::all_of(given.earlier.begin(), given.earlier.end(), agrees) || !agrees(given)) return false;
  join_runs(&given);
  return true;
}

// In so many rounds all runs of a sequence that do not agree are repaired together, each from what stands
// before it, be that true or not. Every round brings the truth one run further, and where messages forget
// what lies a few runs back, all runs agree after as many rounds. In later rounds only the first of those
// that fail is repaired, from what is true.
template <class Real, class Semiring>
int ChunkPass<Real, Semiring>::rounds_together(std::size_t run) const {
  const std::int64_t positions = layout_.sequences[wide(outcomes()[run].sequence)].cut.run;
  return static_cast<int>(ceil_div(repair_reach_, positions));
}

// Runs that are repaired in this round.
template <class Real, class Semiring>
std::vector<std::size_t> ChunkPass<Real, Semiring>::failed_runs() const {
  std::vector<std::size_t> failed;
  if (std::all_of(joins_.begin(), joins_.end(), [](const JunctionResult& join) { return join.agree != 0; }))
    return failed;
  bool found = false;
  for (std::size_t i = 0; i < runs_.count(); ++i) {
    if (runs_.is_first(i)) found = false;
    if (!joined(i, given_) || joins_[i].agree != 0) continue;
    if (!found || round_ <= rounds_together(i)) failed.push_back(i);
    found = true;
  }
  return failed;
}

// Where the state before the first run that does not agree is impossible, so is all that follows it in its
// sequence: no run is done again for that, which would be one after the other. `failed`: failed_runs(). True:
// some agree now.
template <class Real, class Semiring>
bool ChunkPass<Real, Semiring>::end_impossible_sequences(const std::vector<std::size_t>& failed) {
  bool changed = false;
  int sequence = -1;
  for (const std::size_t i : failed) {
    const bool first = std::exchange(sequence, outcomes()[i].sequence) != outcomes()[i].sequence;
    if (!first || joins_[i].impossible == 0) continue;
    std::size_t last = i;
    while (!runs_.is_last(last)) ++last;
    if (layout_.alone()) keep_earlier_end();
    const int first_slot = outcomes()[i].first_state;
    forbid_states(states(), first_slot, outcomes()[last].last_state + 1 - first_slot, stream_);
    std::fill_n(&joins_[i], last + 1 - i, JunctionResult{0, 1, 1});
    changed = true;
  }
  if (!changed) return false;
  download_results();
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  return true;
}

// The given state as it was after a round of repairs to its left (right, backward).
template <class Real, class Semiring>
const BoundaryState& ChunkPass<Real, Semiring>::given_after(int round) const {
  for (const BoundaryState& earlier : given_->earlier)
    if (earlier.replaced > round) return earlier;
  return *given_;
}

// Before the last run is done again: the state where it ended, if runs behind it were compared with it.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::keep_earlier_end() {
  const int last_round = rounds_together(runs_.count() - 1);
  if (end_round_ < last_round) {
    BoundaryState& earlier = earlier_ends_.emplace_back(state_in(last_slot_));
    earlier.replaced = std::min(round_, last_round);
  }
  end_round_ = round_;
}

// Does runs again from the states before them, and compares what follows them, and what follows the given
// state where that changed.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::repair(const std::vector<std::size_t>& failed) {
  const bool changes = given_ != nullptr && &given_after(round_) != &given_after(round_ - 1);
  if (failed.empty() && !changes) return;
  std::vector<RunTask> tasks;
  std::vector<Junction> junctions;    // at which states are copied, then those that are compared
  std::vector<std::size_t> compared;  // runs that begin there
  if (layout_.alone() && !failed.empty() && runs_.is_last(failed.back())) keep_earlier_end();
  for (const std::size_t i : failed) {
    RunTask& task = tasks.emplace_back(runs_.task(i));
    task.start = StartKind::kState;
    task.from = task.begin;
    runs_.outcomes()[i].repaired = true;
    joins_[i] = {0, 1, 0};
    junctions.push_back({runs_.state_before(i), task.first_state});
    if (!runs_.is_last(i)) compared.push_back(i + 1);
  }
  if (changes) compared.push_back(0);
  for (const std::size_t i : compared)
    junctions.push_back({runs_.state_before(i), outcomes()[i].first_state});
  runs_.list_again(tasks, junctions, stream_);
  if (!failed.empty()) {
    copy_states(states(), runs_.junctions(), static_cast<int>(failed.size()), stream_);
    launch(failed.size(), nullptr);
    const int first_slot = outcomes()[failed.front()].first_state;
    normalize_states(states(), first_slot, outcomes()[failed.back()].last_state + 1 - first_slot, stream_);
  }
  if (changes) upload_given(given_after(round_));
  compare(failed.size(), compared.size(), kToleranceOfRepairs * kTolerance<Real>);
  download_results();
  SEMICRF_CUDA_CHECK(cudaStreamSynchronize(stream_));
  for (std::size_t n = 0; n < compared.size(); ++n) joins_[compared[n]] = results_.host().junctions[n];
}

// Puts the values of all runs on the scale of the state that their sequence began with, and adds their
// reports.
template <class Real, class Semiring>
void ChunkPass<Real, Semiring>::join_runs(const BoundaryState* given) {
  const PassResults::View& results = results_.host();
  double true_whole = 0, true_offset = 0;  // what the state where a run begins is relative to
  for (std::size_t i = 0; i < runs_.count(); ++i) {
    RunOutcome& outcome = runs_.outcomes()[i];
    outcome.report = results.reports[i];
    if (runs_.is_first(i)) {
      true_whole = given != nullptr ? given->whole : 0;
      true_offset = given != nullptr ? given->offset : 0;
    }
    if (joined(i, given)) {
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
