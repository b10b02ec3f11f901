// What one thread can do with one chunk. Implemented once in portable SIMD code (simd/) and compiled per
// instruction set, precision and semiring; the engine sees only this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cpu/directed_model.h"
#include "engine/engine.h"

namespace semicrf::cpu {

// How a run begins at the edge of its chunk.
struct RunStart {
  enum class Kind {
    kWarm,   // `warmup` positions before the chunk, or at the sequence's edge if that is nearer
    kState,  // at the chunk's edge, from a given state
  };
  Kind kind = Kind::kWarm;
  const BoundaryState* state = nullptr;
};

// The states of a run over a chunk. `entry` is empty (no ring) when the run began at the sequence's edge or
// from a state.
struct RunStates {
  BoundaryState entry;  // at the edge where the chunk begins, after the warm-up
  BoundaryState exit;   // at the other edge
  std::int64_t fallbacks = 0;
  double mass_before = 0;  // whole numbers: position shifts of the run before the chunk, and in it
  double mass_inside = 0;
};

// Messages of the max semiring over one chunk, for the traceback: block by block, C values per position.
struct ViterbiChunk {
  struct Block {
    bool shifted = false;      // positions have shifts: 16 whole numbers taken out of their emissions
    bool exact = false;        // values are doubles without scales, else floats relative to the scales
    bool scaled_tail = false;  // tail values have their content summed up to the block's first boundary only
    double base = 0;           // whole number to be added to every value of the block
    std::size_t offset = 0;    // of the block's first value in `floats` or `doubles`
    std::size_t shifts = 0;    // of the shifts in `doubles`
    std::size_t scales = 0;    // of the scales in `doubles` (not exact): alpha's and tail's C, then start's C
  };
  // Per block: alpha of boundaries begin+1..begin+16 (16, C); then the start message G of boundaries
  // begin..begin+15 (16, C), the best score of everything before a segment that starts there; then, with a
  // tail, (16, C) the tail's share of alpha at begin+1..begin+16 without the end score.
  std::int64_t begin = 0;
  double whole = 0;   // whole number to be added to every value of the chunk, and
  double offset = 0;  // the rest. Position shifts since the window's first position are left out everywhere.
  std::vector<Block> blocks;
  std::vector<float> floats;
  std::vector<double> doubles;
};

// Max semiring, forward.
class ViterbiKernel {
 public:
  virtual ~ViterbiKernel() = default;
  // `keep` may be null.
  virtual RunStates run(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                        ViterbiChunk* keep) = 0;
};

// Log semiring.
class PosteriorKernel {
 public:
  virtual ~PosteriorKernel() = default;
  // One direction, nothing kept.
  virtual RunStates sweep(Direction direction, const ScoreWindow& scores, PositionRange chunk,
                          std::int64_t warmup, RunStart start) = 0;
  // Both directions, and the posteriors of the chunk; `out` points at the chunk's first row. The local log Z
  // is computed anew at the chunk's right edge and at boundaries that are multiples of `anchor_spacing`
  // (whole blocks).
  struct Result {
    RunStates forward, backward;
    ChunkReport report;
  };
  virtual Result posteriors(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup,
                            std::int64_t anchor_spacing, RunStart forward, RunStart backward,
                            const PosteriorArrays& out) = 0;
};

// Kernels of one model share its tables; a kernel serves one thread.
template <class Kernel>
class KernelFactory {
 public:
  virtual ~KernelFactory() = default;
  virtual std::unique_ptr<Kernel> make() const = 0;
  virtual std::size_t table_bytes() const = 0;
  // Of one kernel while it works on a chunk of this length; for Viterbi also what it keeps.
  virtual std::size_t workspace_bytes(std::int64_t chunk) const = 0;
};

}  // namespace semicrf::cpu
