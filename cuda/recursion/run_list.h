// The runs of a pass, one after the other: which positions each takes, how it starts, and where its states
// lie. Host and device share the definitions: the host judges the runs, the device lists them for itself.
#pragma once

#include <cuda_runtime.h>

#include "cuda/passes/agreement.h"
#include "cuda/recursion/run_types.h"
#include "cuda/tables/limits.h"

namespace semicrf::cuda {

// Runs of one sequence. Those before it have runs [0, first_run), queues [0, first_queue) and
// slots [0, first_slot).
struct RunSequence {
  std::int64_t begin, end, length;  // positions that are computed, of so many
  std::int64_t run, mark;           // positions from one run, and one kept state, to the next
  int queue;                        // runs of a queue; queues are counted from the left
  int first_run, runs, first_slot, first_queue;

  SEMICRF_BOTH int queues() const { return (runs + queue - 1) / queue; }

  // States that a run over `positions` leaves: at its beginning, its marks and its end.
  SEMICRF_BOTH int states(std::int64_t positions) const {
    return static_cast<int>((positions + mark - 1) / mark) + 1;
  }
  // Positions of the last run from the left; all others have `run`.
  SEMICRF_BOTH std::int64_t rest() const { return end - begin - (runs - 1) * run; }
};

struct RunListing {
  const RunSequence* sequences;
  int count;       // number of sequences
  int runs;        // number of runs of all sequences
  int backward;    // runs come right to left
  int given_slot;  // slot of the state that the first run begins with, or -1
  int cut;         // the edge where the pass begins is a cut
  std::int64_t warmup;
};

// Whether run n of a sequence is the first of its queue, so that it warms up.
SEMICRF_BOTH inline bool begins_queue(const RunListing& of, const RunSequence& sequence, int n) {
  const int place = of.backward ? sequence.runs - n : n;  // from the left, of the edge where it begins
  return n == 0 || place % sequence.queue == 0;
}

// Run n of sequence s of the listing.
SEMICRF_BOTH inline RunTask listed_run(const RunListing& of, int s, int n) {
  const RunSequence& sequence = of.sequences[s];
  const int place = of.backward ? sequence.runs - 1 - n : n;  // from the left
  const std::int64_t rounded = (sequence.length + kBlock - 1) / kBlock * kBlock;
  const std::int64_t first = of.backward ? rounded - sequence.length : 0;
  const std::int64_t left = sequence.begin + place * sequence.run;
  const std::int64_t right = place + 1 == sequence.runs ? sequence.end : left + sequence.run;
  RunTask task{};
  task.sequence = s;
  task.report = sequence.first_run + n;
  task.mark = sequence.mark;
  task.begin = of.backward ? rounded - right : left;
  task.end = of.backward ? rounded - left : right;
  const bool from_edge = task.begin - of.warmup <= first;
  task.from = from_edge ? first : task.begin - of.warmup;
  task.start = StartKind::kWarm;
  if (from_edge) task.start = of.cut ? StartKind::kCutEdge : StartKind::kEdge;
  if (!begins_queue(of, sequence, n)) {
    task.from = task.begin;
    task.start = StartKind::kGoesOn;
  }
  // The run that may be shorter comes first backward, and last forward.
  const int full = sequence.states(sequence.run);
  task.first_state = sequence.first_slot + n * full;
  if (of.backward && n > 0) task.first_state += sequence.states(sequence.rest()) - full;
  return task;
}

// Writes all tasks and their junctions: of every run the state of the run before it against its own; its own
// again where there is none. `queues` gets the first run of every queue, and the number of runs. Of several
// sequences `final_slots` gets the slots of the states at their ends. Asynchronous.
void list_runs(const RunListing& listing, RunTask* tasks, int* queues, Junction* junctions, int* final_slots,
               cudaStream_t stream);

}  // namespace semicrf::cuda
