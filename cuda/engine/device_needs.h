// Device memory that windows and batches need, known before the run: pure functions of the model and the
// window, tested without a GPU. Arrays are measured by what slices them (passes/pass_memory.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/tables/tile_config.h"
#include "engine/device_memory.h"
#include "engine/engine.h"

namespace semicrf::cuda {

// How many of `available` bytes an engine may use. `limit`: at most that; 0: what is comfortable.
std::size_t device_budget(std::size_t available, std::size_t limit);

// Whether the scores of the whole sequence stay on the device, so that they go up once.
bool keeps_sequence(const WindowShape& shape, std::size_t budget);

struct ModelShape {
  int labels = 0, max_duration = 0;
  bool tail = false;
  std::size_t real_bytes = 0;
  Teams teams;
};
// Whether such Viterbi windows are joined, see Engine::joins_windows: where edges take little beside windows,
// and scores stay on the device.
bool joins_neighbours(const ModelShape& model, const WindowShape& shape, std::size_t budget);
std::size_t viterbi_need(const ModelShape& model, const RunGrid& grid, const WindowShape& shape,
                         std::size_t budget);
std::size_t posterior_need(const ModelShape& model, const RunGrid& grid, const WindowShape& shape,
                           bool counts, std::size_t budget);

// Whole sequences on common rows, or a window.
struct BatchShape {
  std::int64_t sequences = 0, rows = 0, runs = 0, states = 0;
  std::size_t score_bytes = 0;       // per row, all arrays, features included
  std::size_t head_sum_entries = 0;  // entries of ExpectedFeatures; 0: they are not wanted
};
// Positions whose sums of features are made by themselves, the room for such sums, and that of counts.
inline constexpr std::int64_t kHeadStretch = 1024;
inline constexpr std::size_t kMostHeadSums = std::size_t{256} << 20;
inline constexpr std::size_t kMostCounts = std::size_t{1} << 30;
// What is computed of them.
enum class BatchOutput { kLogPartitions, kPaths, kPosteriors, kCounts };  // kCounts: and posteriors
std::size_t batch_need(const ModelShape& model, const BatchShape& shape, BatchOutput output);

}  // namespace semicrf::cuda
