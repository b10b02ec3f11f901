// Engines whose windows lie in a memory of their own, such as that of a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/compensated_sum.h"
#include "core/score_window.h"

namespace semicrf {

// A window of a sequence as memory planning sees it.
struct WindowShape {
  std::int64_t length = 0;      // T of the sequence
  std::int64_t positions = 0;   // positions of the window
  std::int64_t read = 0;        // positions of the window with its halos
  std::size_t score_bytes = 0;  // per position, all arrays
};

// Scores of a whole sequence, or the features that make them, that an engine is copying ahead of their use.
// Copying ends when it is destroyed, which must be before the engine is. For the thread that uses the engine.
class ScorePrefetch {
 public:
  virtual ~ScorePrefetch() = default;
  // Whether all scores of positions [0, end) are known to be finite or -inf, or the features that make them
  // to be finite. Waits for them.
  virtual bool sound(std::int64_t end) = 0;
  // Sums of all emissions, or of all features, by blocks; nothing when some are not sound, or not there.
  // Waits for them.
  virtual std::optional<BlockSums> block_sums(double mask) = 0;
};

class DeviceMemory {
 public:
  virtual ~DeviceMemory() = default;

  // Bytes of the device that windows may take, and the peak that a window needs there, scores and outputs
  // included. Engine::viterbi_bytes and posterior_bytes then count what the engine takes of the host.
  virtual std::size_t device_memory() const = 0;
  virtual std::size_t viterbi_device_bytes(const WindowShape& shape) const = 0;
  virtual std::size_t posterior_device_bytes(const WindowShape& shape, bool counts) const = 0;

  // Whether windows of this shape are joined: the path through a window is followed as soon as it was
  // computed, from the best label at its right edge, and of its messages only the right edge is kept. Paths
  // run together, so that few windows must be computed again when the true path is known to come from
  // elsewhere. Edges of all windows are part of what a window needs, and their scores need not stay valid on
  // the host.
  virtual bool joins_windows(const WindowShape& shape) const = 0;

  // For scores and posteriors that lie on the device (ScoreArray::on_device, DevicePosteriors) and are made,
  // or used, by the caller's stream there, a cudaStream_t: what the engine is asked for from now on comes
  // after what the stream has got, and what the stream gets from now on after what the engine has done.
  virtual bool takes_device_arrays() const { return false; }
  virtual void begin_after(void* /*stream*/) {}
  virtual void finish_before(void* /*stream*/) {}

  // `whole` covers a sequence that lies in memory and stays there, unchecked yet; windows of it with the same
  // ScoreWindow::sequence will be asked for from left to right. An engine may begin to copy, or go on with
  // what it has begun of that sequence. May be null.
  virtual std::unique_ptr<ScorePrefetch> prefetch(const ScoreWindow& whole) = 0;
};

// Positions of the edges that are kept of windows that are joined: enough for paths to run together.
inline std::int64_t joining_edge(int max_duration) {
  return (16 * std::int64_t{max_duration} + 4096 + 63) / 64 * 64;
}

}  // namespace semicrf
