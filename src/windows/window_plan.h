// How a sequence is cut into windows so that a run fits the memory it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "engine/device_memory.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"

namespace semicrf {

// Positions of the windows of their own at the cut edges of a sequence; 0: there is none.
struct EdgeLengths {
  std::int64_t left = 0, right = 0;

  bool any() const { return left > 0 || right > 0; }
};

// Bytes of these windows together: at most, and as a rule.
struct EdgeBytes {
  std::size_t most = 0, usual = 0;
};

// What one window costs. Everything is in bytes of anonymous memory; mapped files do not count.
struct WindowNeeds {
  // engine's bytes for a window of this many positions, see engine.h
  std::function<std::size_t(std::int64_t)> engine_bytes;
  std::size_t score_bytes = 0;   // per position read (with halos)
  std::size_t output_bytes = 0;  // per position of the window
  // What a window takes as a rule, for forecasts; without: engine_bytes and output_bytes.
  std::function<std::size_t(std::int64_t)> usual_engine_bytes;
  std::optional<std::size_t> usual_output_bytes;
  // Bytes of the messages that are kept of a window to join it to its right neighbour: all windows but the
  // last keep them, if that makes windows a quarter smaller at most. 0: windows are not joined.
  std::size_t edge_bytes = 0;
  std::size_t usual_spool_bytes = 0;  // besides, per position where there are several windows
  std::int64_t enough_positions = 0;  // longer windows gain nothing; 0: they always do
  bool reads_right_halo = false;      // posteriors see the warm-up on the right of the window too
  // Bytes of an engine's own memory that a window of this many positions, read with halos, needs; empty: the
  // engine has no memory of its own.
  std::function<std::size_t(std::int64_t positions, std::int64_t read)> device_bytes;
  std::size_t device_budget = 0;
};

// Sets what `needs` says of the engine's own memory, if it has any.
void take_device_needs(const Engine& engine, const ScoreSource& source, WindowNeeds& needs,
                       std::size_t (*bytes)(const DeviceMemory&, const WindowShape&));

// What a pass in the log semiring takes, without its outputs: posteriors, with expected counts or without, or
// forward messages alone.
WindowNeeds log_needs(const Engine& engine, const ScoreSource& source, bool counts = false);

// Windows of equal size, whole numbers of chunks, but for the last one of them, which is shorter as a rule.
// At cut edges windows of their own may stand before and after them.
struct WindowPlan {
  std::int64_t length = 0;       // T
  EdgeLengths edges;             // windows of their own
  std::int64_t window = 0;       // positions per window; inner_length() when that fits as a whole
  std::int64_t left_halo = 0;    // positions read before a window
  std::int64_t right_halo = 0;   // positions read after a window
  bool joined = false;           // WindowNeeds::edge_bytes are kept
  std::size_t bytes = 0;         // peak of one window, and all edges
  std::size_t budget = 0;        // what was available
  std::size_t device_bytes = 0;  // the engine's own memory
  std::size_t usual_bytes = 0;   // one window as a rule

  std::int64_t inner_length() const { return length - edges.left - edges.right; }
  std::int64_t inner_count() const { return (inner_length() + window - 1) / window; }
  std::int64_t count() const { return inner_count() + (edges.left > 0 ? 1 : 0) + (edges.right > 0 ? 1 : 0); }
  PositionRange range(std::int64_t n) const;       // positions of window n
  PositionRange read_range(std::int64_t n) const;  // with its halos, as far as they exist
};

// Bytes of a window in which the halos are a small part of the work (or of the whole sequence, when that is
// less).
std::size_t comfortable_window_bytes(std::int64_t length, const ChunkGrid& grid, const WindowNeeds& needs);

// Bytes of a window of enough chunks for many threads, up to 2 GiB; 0 for an engine with a memory of its own.
// The best path of a model with many labels or long durations needs a second sweep where windows are short.
std::size_t ample_window_bytes(std::int64_t length, const ChunkGrid& grid, const WindowNeeds& needs);

// Longer windows would only save halos, which are a small part of windows of this size already.
std::int64_t enough_positions(const ChunkGrid& grid);

// The largest window that fits `budget`. Throws MemoryError naming needed and available bytes when not even
// one chunk does. `length` >= 1. `edges`: of it, in windows of their own, which take `edge_bytes` together.
WindowPlan plan_windows(std::int64_t length, const ChunkGrid& grid, const WindowNeeds& needs,
                        std::size_t budget, EdgeLengths edges = {}, EdgeBytes edge_bytes = {});

// Bytes of a window of its own at the edge of a sequence, with what is read beyond it.
EdgeBytes edge_window_bytes(std::int64_t positions, const ChunkGrid& grid, const WindowNeeds& needs);

// "3 windows of 1,048,576 positions, 181.4 MiB each", for --dry-run and logs.
std::string describe(const WindowPlan& plan);

}  // namespace semicrf
