// What one thread can do with one chunk. Implemented once in portable SIMD code (simd/) and compiled per
// instruction set, precision and semiring; the engine sees only this interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cpu/viterbi/viterbi_messages.h"
#include "engine/cut_edges.h"
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
  double mass_before = 0;  // a whole number: position shifts of the run before the chunk
};

// Max semiring, forward.
class ViterbiKernel {
 public:
  virtual ~ViterbiKernel() = default;
  // Over one chunk. `path`, when given, gets the path through the chunk from the best label at its right
  // edge.
  virtual RunStates run(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                        ChunkPath* path) = 0;
  // Runs once more, as run() did, for the messages.
  virtual void messages(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup, RunStart start,
                        ViterbiChunk& all) = 0;
  // Its forward messages as PosteriorKernel::forward() gives those of the log semiring. Not of the kernel for
  // K = 1.
  virtual RunStates forward(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup,
                            RunStart start, const ForwardArrays& out) = 0;
};

// Log semiring.
class PosteriorKernel {
 public:
  virtual ~PosteriorKernel() = default;
  // One direction, nothing kept.
  virtual RunStates sweep(Direction direction, const ScoreWindow& scores, PositionRange chunk,
                          std::int64_t warmup, RunStart start) = 0;
  // Forward, and its messages; `out` points at the chunk's first row. Values and levels are relative to the
  // run's origin: the state it was started from, or nothing.
  virtual RunStates forward(const ScoreWindow& scores, PositionRange chunk, std::int64_t warmup,
                            RunStart start, const ForwardArrays& out) = 0;
  // Both directions, and the posteriors of the chunk; `out` points at the chunk's first row. The local log Z
  // is computed anew at the chunk's right edge and at boundaries that are multiples of `anchor_spacing`
  // (whole blocks).
  struct Result {
    RunStates forward, backward;
    ChunkReport report;
    ExpectedCounts counts;  // counts of this chunk; empty unless out.counts is given, which is not touched
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
  // Bytes of one kernel while it works on a chunk of this length.
  virtual std::size_t workspace_bytes(std::int64_t chunk) const = 0;
  // What these bytes are as a rule: no block in logarithms, segments longer than a position (engine.h).
  virtual std::size_t usual_workspace_bytes(std::int64_t chunk) const { return workspace_bytes(chunk); }
  virtual std::size_t usual_path_bytes(std::int64_t chunk) const { return path_bytes(chunk); }
  // Bytes that a kernel needs besides when it counts.
  virtual std::size_t counts_bytes(std::int64_t) const { return 0; }
  // Bytes of what is kept of a chunk for the traceback.
  virtual std::size_t path_bytes(std::int64_t) const { return 0; }
};

// The kernels by precision; each dispatches to the best instruction set that is enabled
// (cpu/instruction_set.h).
std::unique_ptr<KernelFactory<ViterbiKernel>> viterbi_float(const TraceTables& tables);
std::unique_ptr<KernelFactory<ViterbiKernel>> viterbi_double(const TraceTables& tables);
// K = 1 without a tail and with few labels, for both precisions; null for other models.
std::unique_ptr<KernelFactory<ViterbiKernel>> viterbi_unit(const ChainModel& model);
std::unique_ptr<KernelFactory<PosteriorKernel>> posterior_float(const ChainModel& model);
std::unique_ptr<KernelFactory<PosteriorKernel>> posterior_double(const ChainModel& model);
// K = 1 without cut edges, with few labels and transitions between all of them, for both precisions; what
// that kernel leaves out is computed by those of `general`. `general` itself for other models.
std::unique_ptr<KernelFactory<PosteriorKernel>> posterior_unit(
    const ChainModel& model, Precision precision, std::unique_ptr<KernelFactory<PosteriorKernel>> general);

}  // namespace semicrf::cpu
