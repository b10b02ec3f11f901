#include "cuda/passes/device_context.h"

#include <algorithm>

#include "core/sizes.h"

namespace semicrf::cuda {
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
