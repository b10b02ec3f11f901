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
  // Values of a block, C labels. Fast blocks lie in `values`, one after the other, exact ones in `extra`.
  //   alpha   (16, C)  of boundaries begin+1..begin+16
  //   starts  (C, 16)  of boundaries begin..begin+15: the best score of everything before a segment that
  //   starts there
  //                    plus its start score. Fast: less the content of the block up to there, and the largest
  //                    is 0.
  //   tail    (16, C)  with a tail only: its share of alpha without the end score, at begin+1..begin+16.
  //   Fast: content
  //                    up to the block's first boundary only.
  // Values are relative to whole + offset of the chunk, fast ones besides to a scale of their label. Position
  // shifts since the window's first position are left out everywhere.
  struct Block {
    bool exact = false;
    bool shifted = false;   // whole numbers were taken out of the emissions: 16 of them, last in `extra`
    std::size_t extra = 0;  // of the block's first value in `extra`
  };
  std::int64_t begin = 0;
  double whole = 0;  // a whole number
  double offset = 0;
  std::vector<Block> blocks;
  std::vector<double> extra;
  // Room for all blocks, `capacity` of them.
  std::size_t capacity = 0;
  void* values = nullptr;         // float or double as the kernel computes
  double* alpha_scale = nullptr;  // (blocks, C) of alpha and tail
  double* start_scale = nullptr;  // (C, blocks) of starts; +inf for an exact block
  double* content = nullptr;      // (C, blocks) of the whole block

  static std::size_t values_per_block(int labels, bool tail) {
    return static_cast<std::size_t>(labels) * (tail ? 3 : 2) * 16;
  }
  static std::size_t scales_per_block(int labels) { return static_cast<std::size_t>(labels) * 3; }
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
