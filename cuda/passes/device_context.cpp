#include "cuda/passes/device_context.h"

#include <algorithm>
#include <utility>

#include "core/sizes.h"
#include "cuda/tables/limits.h"

namespace semicrf::cuda {

SequenceLayout::SequenceLayout(std::vector<PlacedSequence> whole) : sequences(std::move(whole)) {
  for (PlacedSequence& sequence : sequences) {
    sequence.first_row = round_up<std::int64_t>(tokens.end, kBlock);
    tokens.end = sequence.first_row + sequence.length;
  }
}

std::int64_t SequenceLayout::longest_mark() const {
  std::int64_t longest = 0;
  for (const PlacedSequence& sequence : sequences) longest = std::max(longest, sequence.cut.mark);
  return longest;
}

// Runs in the order of the pass; the slots of their states follow each other in the same order.
void PassRuns::cut(const SequenceLayout& layout, bool given, bool at_cut) {
  given_ = given;
  at_cut_ = at_cut;
  listed_.clear();
  int runs = 0, queues = 0, slots = 0;
  for (const PlacedSequence& sequence : layout.sequences) {
    RunSequence listed{};
    listed.begin = sequence.range.begin;
    listed.end = sequence.range.end;
    listed.length = sequence.length;
    listed.run = sequence.cut.run;
    listed.mark = sequence.cut.mark;
    listed.queue = sequence.cut.queue;
    listed.first_run = runs;
    listed.runs = static_cast<int>(ceil_div(sequence.range.size(), sequence.cut.run));
    listed.first_queue = queues;
    listed.first_slot = slots;
    runs += listed.runs;
    queues += listed.queues();
    slots += (listed.runs - 1) * listed.states(listed.run) + listed.states(listed.rest());
    listed_.push_back(listed);
  }
  count_ = wide(runs);
  queue_count_ = wide(queues);
  slots_ = wide(slots) + 1;
  sequence_list_.reserve(listed_.size());
  tasks_.reserve(count_);
  queues_.reserve(queue_count_ + 1);
  junctions_.reserve(2 * count_);
  final_slots_.reserve(listed_.size());
}

RunListing PassRuns::listing(const RunSequence* sequences) const {
  return {sequences,
          static_cast<int>(listed_.size()),
          static_cast<int>(count_),
          direction_ == Direction::kBackward ? 1 : 0,
          given_ ? given_slot() : -1,
          at_cut_ ? 1 : 0,
          warmup_};
}

void PassRuns::list(cudaStream_t stream) {
  sequence_list_.upload(listed_, stream);
  list_runs(listing(sequence_list_.get()), tasks_.get(), queues_.get(), junctions_.get(), final_slots_.get(),
            stream);
}

void PassRuns::list_again(const std::vector<RunTask>& tasks, const std::vector<Junction>& junctions,
                          cudaStream_t stream) {
  tasks_.upload(tasks, stream);
  junctions_.upload(junctions, stream);
}

RunTask PassRuns::task(std::size_t i) const {
  const int s = outcomes_[i].sequence;
  return listed_run(listing(listed_.data()), s, static_cast<int>(i) - listed_[wide(s)].first_run);
}

void PassRuns::make_outcomes() {
  outcomes_.clear();
  outcomes_.reserve(count_);
  last_runs_.clear();
  const RunListing listing_here = listing(listed_.data());
  for (const RunSequence& sequence : listed_) {
    const std::int64_t rounded = ceil_div<std::int64_t>(sequence.length, kBlock) * kBlock;
    const int s = static_cast<int>(&sequence - listed_.data());
    for (int n = 0; n < sequence.runs; ++n) {
      const RunTask task = listed_run(listing_here, s, n);
      RunOutcome& outcome = outcomes_.emplace_back();
      outcome.range = direction_ == Direction::kForward
                          ? PositionRange{task.begin, task.end}
                          : PositionRange{rounded - task.end, rounded - task.begin};
      outcome.sequence = s;
      outcome.first_state = task.first_state;
      outcome.last_state = task.first_state + sequence.states(outcome.range.size()) - 1;
    }
    last_runs_.push_back(outcomes_.size() - 1);
  }
}

namespace {

constexpr int kMostBatchThreads = 4;  // batches are small

// Makes the device the current one: streams are made there.
int selected(int device) {
  SEMICRF_CUDA_CHECK(cudaSetDevice(device));
  return device;
}

}  // namespace

DeviceContext::DeviceContext(const ChainModel& chain_model, std::size_t bytes_of_real, int on_device,
                             std::size_t shared_limit, std::size_t memory_limit, int host_threads,
                             const WorkRules& work_rules)
    : model(chain_model),
      real_bytes(bytes_of_real),
      device(selected(on_device)),
      memory(memory_limit),
      threads(host_threads),
      rules(work_rules),
      grid(run_grid(model.max_duration)),
      tile(choose_tile(model.num_labels, model.max_duration, real_bytes, shared_limit, model.cut.right)),
      teams(teams_of(tile, rules.multiprocessors)),
      copies(device, threads),
      batch_copies(device, std::min(threads, kMostBatchThreads)) {
  if (model.cut.any()) cut_sums.emplace(model);
}

void DeviceContext::end_work() {
  cudaSetDevice(device);
  copies.stop();
  batch_copies.stop();
  cudaStreamSynchronize(stream.get());
  cudaStreamSynchronize(backward_stream.get());
}

ModelShape DeviceContext::shape() const {
  return {model.num_labels, model.max_duration, model.has_tail(), real_bytes, teams};
}

PlacedSequence DeviceContext::cut(std::int64_t length, PositionRange range, bool with_marks) const {
  PlacedSequence sequence{range, length, cut_into_runs(grid, length, teams)};
  if (!with_marks) sequence.cut.mark = sequence.cut.run;
  return sequence;
}

auto DeviceContext::reports_of(const SequenceLayout& layout, const std::vector<RunOutcome>& outcomes,
                               const std::vector<RunOutcome>* others) const -> Reports {
  Reports reports;
  for (const PlacedSequence& sequence : layout.sequences)
    reports.emplace_back(sequence.chunk_of(sequence.range.end - 1) + 1);
  for (const std::vector<RunOutcome>* runs : {&outcomes, others}) {
    if (runs == nullptr) continue;
    for (const RunOutcome& run : *runs) {
      const std::size_t i = wide(run.sequence);
      ChunkReport& chunk = reports[i][layout.sequences[i].chunk_of(run.range.begin)];
      chunk.fallbacks += run.report.fallbacks;
      chunk.repaired = chunk.repaired || run.repaired;
    }
  }
  return reports;
}

}  // namespace semicrf::cuda
