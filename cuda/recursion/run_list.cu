// A thread per run.
#include "cuda/device/launch.h"
#include "cuda/recursion/run_list.h"

namespace semicrf::cuda {
namespace {

constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
    list(const RunListing listing, RunTask* tasks, int* queues, Junction* junctions, int* final_slots) {
  const int index = static_cast<int>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  if (index >= listing.runs) return;
  int s = 0;
  for (int beyond = listing.count; beyond - s > 1;) {
    const int middle = s + (beyond - s) / 2;
    if (listing.sequences[middle].first_run <= index) {
      s = middle;
    } else {
      beyond = middle;
    }
  }
  const RunSequence& sequence = listing.sequences[s];
  const int n = index - sequence.first_run;
  const RunTask task = listed_run(listing, s, n);
  tasks[index] = task;
  if (begins_queue(listing, sequence, n)) {
    const int place = (listing.backward ? sequence.runs - 1 - n : n) / sequence.queue;
    queues[sequence.first_queue + (listing.backward ? sequence.queues() - 1 - place : place)] = index;
  }
  if (index + 1 == listing.runs) queues[sequence.first_queue + sequence.queues()] = listing.runs;
  const int before = n > 0 ? task.first_state - 1 : listing.given_slot;
  junctions[index] = {before < 0 ? task.first_state : before, task.first_state};
  if (n + 1 == sequence.runs) final_slots[s] = task.first_state + sequence.states(task.end - task.begin) - 1;
}

}  // namespace

void list_runs(const RunListing& listing, RunTask* tasks, int* queues, Junction* junctions, int* final_slots,
               cudaStream_t stream) {
  SEMICRF_CUDA_CHECK(launch(list, shape_for(listing.runs, kThreads), stream, listing, tasks, queues,
                            junctions, final_slots));
}

}  // namespace semicrf::cuda
