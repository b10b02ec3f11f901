// The contract between the inference engines (reference, cpu, cuda) and everybody who calls them.
//
// An engine works on windows: stretches [begin, end) of one sequence that are whole numbers of chunks of its
// grid (the last window ends at T). Inside a window it may run chunks in parallel from warmed-up starts; it
// verifies every junction and repairs what did not agree, so a result depends on the model and the absolute
// position only, never on threads or on how the sequence was cut into windows. What crosses a window's edge
// is a BoundaryState.
//
// Letters and formulas are those of docs/algorithm.md. All scores are natural logarithms in double unless
// said otherwise; -inf means impossible and is a legal value everywhere.
//
// Tie rule of the max semiring: smallest final label; then, per segment from the right, the smallest duration
// (a duration within K before one in the tail), then the smallest source label.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/chain_model.h"
#include "core/score_window.h"
#include "core/segment.h"
#include "engine/boundary_state.h"

namespace semicrf {

// A half-open range of positions.
struct PositionRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};

// Where a sequence may be cut. A function of the model, the precision and T alone.
struct ChunkGrid {
  std::int64_t chunk = 0;  // window edges are multiples of this (or T), but see `edge`
  std::int64_t warmup =
      0;                 // positions an engine wants beyond a window's edges (fewer at the sequence's ends)
  double tolerance = 0;  // junction states agree within this (log units), besides rounding of large entries
  // The first window may begin, and the last one end, at a multiple of this that is no multiple of a chunk;
  // those between them follow the first one. 0: they may not.
  std::int64_t edge = 0;
};

// Positions of a block, the unit of arithmetic of the fast engines, in which they count fallbacks.
inline constexpr std::int64_t kBlockPositions = 16;

// Sums over one chunk, for the caller to add up in chunk order (so that windows do not change a digit).
struct ChunkReport {
  std::int64_t fallbacks = 0;  // blocks or entries recomputed in the log domain, in the runs that counted
  bool repaired = false;       // a junction failed and the chunk was redone from the true state
  double label_entropy = 0;    // sum over t of -sum_c P(c|t) ln P(c|t)
  double boundary_mass = 0;    // sum over t of p(segment starts at t)
  double boundary_plogp = 0;   // sum over t of p ln p
  double max_normalization_error = 0;  // max |sum_c P(c|t) - 1| before clamping or renormalising
};

// Where a Viterbi traceback stands. It runs right to left and crosses windows.
struct TraceCursor {
  enum class Phase {
    kFindStart,  // a segment of `label` ends at boundary `boundary`; its start is wanted
    kInTail,  // that segment ends at `segment_end`, is longer than K, and its tail is followed at `boundary`
    kFindSource,  // a segment of `label` starts at boundary `boundary`; the label before it is wanted
    kDone,
  };
  Phase phase = Phase::kDone;
  std::int64_t boundary = 0;
  std::int64_t segment_end = 0;
  int label = 0;
};

// What a Viterbi forward pass over a window kept for the traceback through it. The scores the window was
// computed from must stay valid while it is used, and the engine must outlive it.
class ViterbiMessages {
 public:
  virtual ~ViterbiMessages() = default;
  // Follows the best path from the cursor leftwards. Appends finished segments to `reversed`, right to left.
  // True: there is more to follow, so that `reversed` need not hold a whole window's path. False: the
  // window's left edge blocks the path, or the sequence's start is reached (kDone).
  virtual bool trace(TraceCursor& cursor, std::vector<Segment>& reversed) = 0;
  // What paths through the last `positions` of the window need of them, in memory of its own. Its trace()
  // ends where more would be needed. Null: cannot be had. Of engines that join windows. After it no path may
  // be followed here.
  virtual std::unique_ptr<ViterbiMessages> right_edge(std::int64_t /*positions*/) { return nullptr; }
};

struct ViterbiWindow {
  BoundaryState right;                        // true forward state at range.end (max semiring)
  std::vector<ChunkReport> chunks;            // one per chunk
  std::unique_ptr<ViterbiMessages> messages;  // only when asked for
};

// PosteriorArrays in memory of the engine's device, in the engine's precision.
struct DevicePosteriors {
  void* boundary = nullptr;
  void* labels = nullptr;
  void* starts = nullptr;
  void* ends = nullptr;
};

// Where posteriors go; null pointers are not computed. Rows are the positions of the range. Probabilities in
// [0, 1].
struct PosteriorArrays {
  double* boundary = nullptr;  // (n): a segment starts at t
  double* labels = nullptr;    // (n, C): P(c|t), the gradient of log Z by the centred emissions
  double* starts = nullptr;    // (n, C): a segment of label c starts at t; gradient by the start scores
  double* ends = nullptr;  // (n, C): a segment of label c ends with position t; gradient by the end scores
  bool sums = true;        // entropies and boundaries of the ChunkReport; else they may be missing
  ExpectedCounts* counts = nullptr;  // added to, in chunk order; a window computed again adds again
  const DevicePosteriors* on_device =
      nullptr;  // in place of the four arrays, of whole sequences (DeviceMemory)
  // Added to as well; of windows with features, for engines that project. Several sequences may share one.
  ExpectedFeatures* features = nullptr;
};

struct PosteriorWindow {
  BoundaryState right_forward;  // true forward state at range.end (log semiring)
  BoundaryState left_backward;  // backward state at range.begin that the results were computed with
  BoundaryState right_warmed;   // backward state warmed up at range.end (empty ring where range.end == T)
  std::vector<ChunkReport> chunks;
};

// Where forward messages go; null pointers are not computed. Rows are the positions of the range; natural
// logarithms, to the precision of the engine; -inf: impossible. An end that lies e^-45 or more below the
// largest of its position may be -inf, too. The true message is `whole + value` with the
// window's ForwardWindow::whole.
struct ForwardArrays {
  double* starts = nullptr;  // (n, C): LSE_{c'}(alpha_t(c') + T[c',c]) + Ps[t,c], a segment starts at t
  double* ends = nullptr;    // (n, C): alpha_{t+1}(c), a segment has its last position at t
  double* tails = nullptr;  // (n, C): tail_{t+1}(c) + S[t+1,c]: t lies more than K positions into its segment
  // Whole numbers that follow the size of the messages along the sequence. When they are asked for, the
  // starts of t are relative to whole + start_levels[t], its ends and tails to whole + end_levels[t]. Then
  // such a sum and the value beside it are the same to the bit in whatever windows the sequence is computed,
  // and no digits are lost along it.
  double* start_levels = nullptr;  // (n)
  double* end_levels = nullptr;    // (n)
};

struct ForwardWindow {
  BoundaryState right;  // true forward state at range.end, of the semiring that was asked for
  double whole = 0;
  std::vector<ChunkReport> chunks;
};

class DeviceMemory;     // engine/device_memory.h
class SequenceBatches;  // engine/batch.h

// What an engine is; nothing of it changes while the engine lives.
struct EngineInfo {
  std::string_view name;    // "reference", "cuda-plain", "cpu" or "cuda"
  std::string description;  // for logs: instruction set, precision, threads
  ChainModel model;
  Precision precision = Precision::kDouble;
  ChunkGrid grid;         // grid of chunks of the usual length; see Engine::grid()
  bool projects = false;  // whether windows may come with features in place of scores, except for forward()
                          // and best_forward()
  bool best_messages = false;  // whether best_forward() may be called
  // Whether the model may have cut edges (ChainModel::cut). Then windows are whole sequences, and there are
  // log partitions and posteriors, but neither paths nor messages. A cut hides starts at position 0, or ends
  // at T-1: their boundary scores are not looked at, and their posteriors are 0.
  bool cut_edges = false;
  // A window's expected counts have the transitions at its left edge, and segments longer than K (in row K)
  // where they begin. True: those at its right edge, and long segments where they end. Summed over windows of
  // one engine both are the same; between two unlike engines see add_at_boundary (engine/cut_edges.h).
  bool counts_by_end = false;
};

class Engine {
 public:
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  const EngineInfo& info() const { return info_; }
  std::string_view name() const { return info_.name; }
  const std::string& description() const { return info_.description; }
  const ChainModel& model() const { return info_.model; }
  Precision precision() const { return info_.precision; }
  // Where a sequence of so many positions may be cut. Its chunks may be shorter or longer than the usual
  // ones.
  virtual ChunkGrid grid(std::int64_t /*length*/) const { return info_.grid; }
  bool projects() const { return info_.projects; }

  // Null: the engine computes in the host's memory.
  DeviceMemory* own_memory() const { return own_memory_; }
  // Several whole sequences in one call.
  SequenceBatches& batches() const { return *batches_; }

  // Peak bytes an engine allocates for a window of this many positions of one sequence, scores and outputs
  // not included.
  virtual std::size_t viterbi_bytes(std::int64_t positions, bool keep_messages) const = 0;
  virtual std::size_t posterior_bytes(std::int64_t positions, bool counts = false) const = 0;

  // What such windows take as a rule, where the worst case above makes room for what hardly ever happens:
  // blocks in logarithms, segments of one position. For forecasts alone.
  virtual std::size_t usual_viterbi_bytes(std::int64_t positions) const {
    return viterbi_bytes(positions, true);
  }
  virtual std::size_t usual_posterior_bytes(std::int64_t positions, bool counts = false) const {
    return posterior_bytes(positions, counts);
  }

  // Windows of engines that compute in the host's memory are joined, where there is room for so many bytes
  // per window, as DeviceMemory::joins_windows says of others. 0: they cannot be.
  virtual std::size_t right_edge_bytes() const { return 0; }

  // Max semiring over `range`. `scores` covers the range and `warmup` positions before it (as far as they
  // exist); `left` is the true state at range.begin, null exactly when range.begin == 0.
  virtual ViterbiWindow viterbi(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                                bool keep_messages) = 0;

  // Log semiring, forward and backward. `scores` covers the range and `warmup` positions on both sides.
  // `right` is the backward state at range.end, null where range.end == T or where it is not known yet: then
  // the warmed-up state is used and the caller must verify it later against the right neighbour's
  // left_backward (docs/design.md).
  virtual PosteriorWindow posteriors(const ScoreWindow& scores, PositionRange range,
                                     const BoundaryState* left, const BoundaryState* right,
                                     const PosteriorArrays& out) = 0;

  // Log semiring, forward only: log Z of a sequence, and the messages from which segments are drawn. `scores`
  // and `left` as for viterbi().
  virtual ForwardWindow forward(const ScoreWindow& scores, PositionRange range, const BoundaryState* left,
                                const ForwardArrays& out) = 0;

  // A forward pass in the max semiring: every sum of ForwardArrays is a maximum, and everything that is
  // possible is there. Of engines with `best_messages`.
  virtual ForwardWindow best_forward(const ScoreWindow& /*scores*/, PositionRange /*range*/,
                                     const BoundaryState* /*left*/, const ForwardArrays& /*out*/) {
    throw std::logic_error("this engine keeps no messages of best paths");
  }

 protected:
  Engine(EngineInfo info, DeviceMemory* own_memory, SequenceBatches& batches)
      : info_(std::move(info)), own_memory_(own_memory), batches_(&batches) {
    if (info_.model.cut.any() && !info_.cut_edges) throw std::logic_error("this engine knows no cut edges");
  }
  // For what there is not of models with cut edges.
  void expect_no_cut_edges() const {
    if (info_.model.cut.any()) throw std::logic_error("paths and messages of cut edges are not computed");
  }

 private:
  EngineInfo info_;
  DeviceMemory* own_memory_;
  SequenceBatches* batches_;
};

}  // namespace semicrf
