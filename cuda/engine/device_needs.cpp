#include "cuda/engine/device_needs.h"

#include <algorithm>

#include "core/sizes.h"
#include "cuda/passes/pass_memory.h"
#include "cuda/viterbi/trace_shape.h"

namespace semicrf::cuda {
namespace {

constexpr std::size_t kComfortable = std::size_t{7} << 30;
// Tables, tasks, states that were given, the driver's own.
constexpr std::size_t kTables = std::size_t{64} << 20;
constexpr std::size_t kTeams = 8192;  // at work at the same time, at most

// Messages of one direction, and the first pool of their exact blocks.
template <class Real>
std::size_t bytes_of_messages(const MessageShape& shape, std::size_t blocks) {
  return message_bytes<Real>(shape, MessagePart::kBlocks, blocks) +
         message_bytes<Real>(shape, MessagePart::kPool, first_pool_slots(blocks));
}
std::size_t store_bytes(const ModelShape& model, std::int64_t positions, bool tail, bool shifts,
                        bool levels = true) {
  const MessageShape shape{model.labels, tail, shifts, levels};
  const std::size_t blocks = message_blocks(positions);
  return model.real_bytes == sizeof(float) ? bytes_of_messages<float>(shape, blocks)
                                           : bytes_of_messages<double>(shape, blocks);
}

// What tracebacks need of messages, which are all kept.
std::size_t trace_bytes(const ModelShape& model, std::int64_t positions) {
  return store_bytes(model, positions, model.tail, true, false) +
         message_blocks(positions) * (kTracePlaceBytes + wide(model.labels) * sizeof(int));
}
// Records of the path twice, in pieces and in order. Pieces, of 64 positions or more but for the last one of
// a sequence, have room for more records than positions.
constexpr std::size_t kPathBytes = 2 * sizeof(TraceRecord) + 1;  // per position
constexpr std::size_t kPieceBytes = 2 * wide(most_records(0)) * sizeof(TraceRecord);

// States where runs begin and end, and the workspace of their teams, with a ring that shared memory has no
// room for.
template <class Real>
std::size_t bytes_of_runs(const ModelShape& model, std::size_t runs, std::size_t states) {
  const TeamShape team{model.labels, ceil_div(model.max_duration, kBlock), false};
  const std::size_t state = (wide(model.max_duration) + 2) * wide(model.labels) * sizeof(double);
  return states * state + workspace_bytes<Real>(team, most_teams<Real>(team, std::min(runs, kTeams)));
}
std::size_t run_bytes(const ModelShape& model, const BatchShape& shape) {
  const std::size_t states = wide(shape.states) + 1;
  return model.real_bytes == sizeof(float) ? bytes_of_runs<float>(model, wide(shape.runs), states)
                                           : bytes_of_runs<double>(model, wide(shape.runs), states);
}

// Blocks that the ends of sequences cut are exact, in both directions.
std::size_t cut_bytes(const ModelShape& model, std::int64_t sequences) {
  return wide(sequences) * kBlock * wide(model.labels) * 5 * sizeof(double);
}

// Sums of features stretch by stretch. Sequences and chunks end with a shorter one, and chunks are several
// stretches long.
std::size_t head_sum_bytes(const BatchShape& shape) {
  const std::size_t stretches = wide(shape.sequences) + wide(shape.rows / kHeadStretch) * 2;
  return std::min(kMostHeadSums, stretches * shape.head_sum_entries * sizeof(double));
}

// A window is a batch of one, but for its scores.
BatchShape batch_of(const ModelShape& model, const RunGrid& grid, const WindowShape& shape) {
  const RunCut cut = cut_into_runs(grid, shape.length, model.teams);
  BatchShape batch;
  batch.sequences = 1;
  batch.rows = shape.positions;
  batch.runs = shape.positions / cut.run + 1;
  batch.states = shape.positions / cut.mark + 1 + 2 * batch.runs;
  return batch;
}
std::size_t window_scores(const WindowShape& shape, std::size_t budget) {
  return (keeps_sequence(shape, budget) ? wide(shape.length) : wide(shape.read)) * shape.score_bytes;
}

}  // namespace

std::size_t device_budget(std::size_t available, std::size_t limit) {
  const std::size_t usable = available - available / 16;  // fragments, and others on the same GPU
  return std::min(usable, limit != 0 ? limit : kComfortable);
}

bool keeps_sequence(const WindowShape& shape, std::size_t budget) {
  // A quarter and more is left for messages, so that windows stay long.
  return wide(shape.length) * shape.score_bytes <= budget / 4 * 3;
}

bool joins_neighbours(const ModelShape& model, const WindowShape& shape, std::size_t budget) {
  constexpr std::int64_t kEdgesPerWindow = 128;
  return shape.positions < shape.length && keeps_sequence(shape, budget) &&
         shape.positions >= kEdgesPerWindow * joining_edge(model.max_duration);
}

std::size_t viterbi_need(const ModelShape& model, const RunGrid& grid, const WindowShape& shape,
                         std::size_t budget) {
  const std::size_t edges =
      joins_neighbours(model, shape, budget)
          ? wide(shape.length / shape.positions) * trace_bytes(model, joining_edge(model.max_duration))
          : 0;
  return window_scores(shape, budget) + edges +
         batch_need(model, batch_of(model, grid, shape), BatchOutput::kPaths);
}

std::size_t posterior_need(const ModelShape& model, const RunGrid& grid, const WindowShape& shape,
                           bool counts, std::size_t budget) {
  return window_scores(shape, budget) + batch_need(model, batch_of(model, grid, shape),
                                                   counts ? BatchOutput::kCounts : BatchOutput::kPosteriors);
}

std::size_t batch_need(const ModelShape& model, const BatchShape& shape, BatchOutput output) {
  const std::size_t rows = wide(shape.rows);
  const std::size_t forward = kTables + rows * shape.score_bytes + run_bytes(model, shape);
  if (output == BatchOutput::kLogPartitions) return forward;
  if (output == BatchOutput::kPaths) {
    // With several sequences: what every block is relative to, and which of them it belongs to.
    const std::size_t blocks =
        shape.sequences > 1 ? message_blocks(shape.rows) * (kTracePlaceBytes / 2 + sizeof(int)) : 0;
    return forward + cut_bytes(model, shape.sequences) + trace_bytes(model, shape.rows) + rows * kPathBytes +
           blocks + wide(shape.sequences) * kPieceBytes;
  }
  const bool counts = output == BatchOutput::kCounts;
  return forward + run_bytes(model, shape) + cut_bytes(model, shape.sequences) +
         store_bytes(model, shape.rows, counts && model.tail, true) +
         store_bytes(model, shape.rows, false, false) +
         rows * (3 * wide(model.labels) + 1) * model.real_bytes + head_sum_bytes(shape) +
         (counts ? kMostCounts : 0);
}

}  // namespace semicrf::cuda
