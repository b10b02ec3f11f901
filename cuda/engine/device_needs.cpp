#include "cuda/engine/device_needs.h"

#include <algorithm>

#include "core/sizes.h"
#include "engine/device_memory.h"

namespace semicrf::cuda {
namespace {

constexpr std::size_t kComfortable = std::size_t{7} << 30;
constexpr std::size_t kTables = std::size_t{64}
                                << 20;  // tables, tasks, states that were given, the driver's own
constexpr std::size_t kTeams = 8192;    // chunks at work at the same time, at most
constexpr std::size_t kMostWorkspace = std::size_t{2} << 30;  // of the exact path, see ChunkPass
constexpr std::size_t kMostCounts = std::size_t{1} << 30;     // of counts, see CudaEngine::count_all

constexpr std::size_t kPieceBytes = 256;  // of a traceback

// Messages of one direction, a sixteenth of the blocks exact.
std::size_t store_bytes(const ModelShape& model, std::size_t positions, bool tail, bool shifts) {
  const std::size_t labels = wide(model.labels);
  const std::size_t arrays = tail ? 3 : 2;
  const std::size_t blocks = positions / kBlock + 1;
  const std::size_t rows = blocks * kBlock;
  const std::size_t pool = std::max<std::size_t>(64, blocks / 16) * kBlock * labels * arrays * sizeof(double);
  return rows * labels * arrays * model.real_bytes + blocks * ((tail ? 5 : 4) * labels + 2) * sizeof(double) +
         blocks * sizeof(int) + (shifts ? rows * sizeof(double) : 0) + pool;
}

// What tracebacks need of messages, which are all kept: per block besides its place, its link to the one
// before, and a bound per label; records of the path twice, in pieces and in order; what is known of pieces,
// 64 positions or more each.
std::size_t trace_bytes(const ModelShape& model, std::size_t positions) {
  return store_bytes(model, positions, model.tail, true) +
         (positions / kBlock + 1) * (32 + wide(model.labels) * sizeof(int));
}
constexpr std::size_t kPathBytes = 2 * sizeof(std::uint64_t) + 4;  // per position

// States where runs begin and end, and what the exact path and long rings take.
std::size_t run_bytes(const ModelShape& model, std::size_t runs, std::size_t states) {
  const std::size_t labels = wide(model.labels);
  const std::size_t state = (wide(model.max_duration) + 2) * labels * sizeof(double);
  const std::size_t cells = (wide(model.max_duration) + kBlock - 1) / kBlock * labels;
  const std::size_t team = cells * kBlock * (sizeof(double) + model.real_bytes) +
                           (kExactRows * labels + 2 * cells) * sizeof(double);
  const std::size_t workspace = std::max(team, std::min(team * std::min(runs, kTeams), kMostWorkspace));
  return states * state + workspace;
}

std::size_t pass_bytes(const ModelShape& model, const RunGrid& grid, const WindowShape& shape) {
  const std::int64_t run = run_length(grid, shape.length, model.teams);
  const std::size_t runs = wide(shape.positions / run) + 1;
  const std::size_t marks = wide(shape.positions / std::min(run, grid.warmup)) + 1;
  return run_bytes(model, runs, marks + 2 * runs + 1);
}

// Blocks that the ends of sequences cut are exact, in both directions.
std::size_t cut_bytes(const ModelShape& model, std::int64_t sequences) {
  return wide(sequences) * kBlock * wide(model.labels) * 5 * sizeof(double);
}

std::size_t scores(const WindowShape& shape, std::size_t budget) {
  return (keeps_sequence(shape, budget) ? wide(shape.length) : wide(shape.read)) * shape.score_bytes;
}

// Sums of features stretch by stretch. Sequences and chunks end with a shorter one, and chunks are several
// stretches long.
std::size_t head_sum_bytes(const BatchShape& shape) {
  const std::size_t stretches = wide(shape.sequences) + wide(shape.rows / kHeadStretch) * 2;
  return std::min(kMostHeadSums, stretches * shape.head_sum_entries * sizeof(double));
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
  const std::size_t positions = wide(shape.positions);
  const std::size_t edges =
      joins_neighbours(model, shape, budget)
          ? wide(shape.length / shape.positions) * trace_bytes(model, wide(joining_edge(model.max_duration)))
          : 0;
  return kTables + scores(shape, budget) + pass_bytes(model, grid, shape) + trace_bytes(model, positions) +
         positions * kPathBytes + edges;
}

std::size_t posterior_need(const ModelShape& model, const RunGrid& grid, const WindowShape& shape,
                           bool counts, std::size_t budget) {
  const std::size_t positions = wide(shape.positions);
  const std::size_t outputs = positions * (3 * wide(model.labels) + 1) * model.real_bytes;
  return kTables + scores(shape, budget) + 2 * pass_bytes(model, grid, shape) +
         store_bytes(model, positions, counts && model.tail, true) +
         store_bytes(model, positions, false, false) + outputs + (counts ? kMostCounts : 0);
}

std::size_t batch_need(const ModelShape& model, const BatchShape& shape, BatchOutput output) {
  const std::size_t rows = wide(shape.rows);
  const std::size_t labels = wide(model.labels);
  const std::size_t runs = wide(shape.runs);
  const std::size_t states = wide(shape.states) + 1;
  const std::size_t forward = kTables + rows * shape.score_bytes + run_bytes(model, runs, states);
  if (output == BatchOutput::kLogPartitions) return forward;
  if (output == BatchOutput::kPaths) {
    // And per block what its run's values are relative to, and its sequence; a piece per sequence or more.
    const std::size_t blocks = (rows / kBlock + 1) * (2 * sizeof(double) + sizeof(int));
    return forward + cut_bytes(model, shape.sequences) + trace_bytes(model, rows) + rows * kPathBytes +
           blocks + wide(shape.sequences) * kPieceBytes;
  }
  const bool counts = output == BatchOutput::kCounts;
  return forward + run_bytes(model, runs, states) + cut_bytes(model, shape.sequences) +
         store_bytes(model, rows, counts && model.tail, true) + store_bytes(model, rows, false, false) +
         rows * (3 * labels + 1) * model.real_bytes + head_sum_bytes(shape) + (counts ? kMostCounts : 0);
}

}  // namespace semicrf::cuda
