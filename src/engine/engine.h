// The contract between the inference engines (reference, cpu, later cuda) and everybody who calls them.
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
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/block_sums.h"
#include "core/chain_model.h"
#include "core/score_window.h"
#include "core/segment.h"

namespace semicrf {

// A half-open range of positions.
struct PositionRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t size() const { return end - begin; }
};

// Where a sequence may be cut. A function of the model and the precision alone.
struct ChunkGrid {
  std::int64_t chunk = 0;  // window edges are multiples of this (or T)
  std::int64_t warmup =
      0;  // positions an engine wants to see beyond a window's edges (fewer at the sequence's ends)
  double tolerance = 0;  // junction states agree within this (log units), besides rounding of large entries
};

// The messages at boundary b that determine everything on the other side of it.
// Entries are relative: true log message = whole + offset + entry; the largest entry is 0 (all -inf: no
// path). `whole` is a whole number that takes up the length of the sequence, so that differences of it are
// exact.
//   forward:  ring row d-1 = gamma_{b-d}(c) + S[b,c] - S-origin, i.e. content already summed up to b;
//             message = alpha_b; tail = tail_b + S[b,c]
//   backward: the same of the reversed sequence: ring row d-1 = S[b+d,c] - S[b,c] + Pe[b+d-1,c] +
//   beta_{b+d}(c);
//             message = beta_b; tail = log sum over e > b+K of that, with B[K] and the tail's decay
// Rows that would lie outside the sequence are -inf.
struct BoundaryState {
  std::int64_t boundary = 0;
  double whole = 0;
  double offset = 0;
  std::vector<double> ring;     // (K, C)
  std::vector<double> message;  // (C)
  std::vector<double> tail;     // (C), empty when the model has no tail
};

// The constant d with truth = warmed + (truth.whole - warmed.whole) + d, when every entry agrees: both -inf,
// or both finite with max d - min d <= tolerance + 4 ulp(largest |entry|) where the ulp is that of the
// engine's precision. The constant is the mean of the differences weighted by exp(truth). nullopt when they
// do not agree.
enum class Precision { kFloat, kDouble };
std::optional<double> agreement(const BoundaryState& truth, const BoundaryState& warmed, double tolerance,
                                Precision precision);

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
  // ends where more would be needed. Null: cannot be had. Of engines that join windows.
  virtual std::unique_ptr<ViterbiMessages> right_edge(std::int64_t /*positions*/) { return nullptr; }
};

struct ViterbiWindow {
  BoundaryState right;                        // true forward state at range.end (max semiring)
  std::vector<ChunkReport> chunks;            // one per chunk
  std::unique_ptr<ViterbiMessages> messages;  // only when asked for
};

// Expected counts under P(y|x): the gradients of log Z by the scores that all positions share
// (docs/algorithm.md, section 3). An engine adds a window's share to what is there: segments count in the
// window of their start, tail counts and transitions in the window of their position.
struct ExpectedCounts {
  std::vector<double> transition;  // (C, C), [from][to]; with the uniform initial term position 0 counts too
  std::vector<double> duration;    // (K, C), row k-1; row K-1 includes the segments that go on into the tail
  std::vector<double> tail;        // (C): positions by which tail segments exceed K; empty without a tail

  // Brings the arrays to the shapes of a model, zeros where they were empty. Engines do it before they add.
  void shape_for(const ChainModel& model) {
    const auto labels = static_cast<std::size_t>(model.num_labels);
    transition.resize(labels * labels);
    duration.resize(static_cast<std::size_t>(model.max_duration) * labels);
    tail.resize(model.has_tail() ? labels : 0);
  }
};

// Sums over positions under P(y|x): the gradients of log Z by the weights and biases of the linear heads that
// made the scores (centring not considered), and by the model's start and end scores. The caller brings the
// arrays to their shapes. An engine adds a window's share to what is there, stretches of positions in their
// order.
struct ExpectedFeatures {
  struct Head {
    std::vector<double> weights;  // (inputs, C), as in HeadTable: sum over t of p[t,c] x_j
    std::vector<double> bias;     // (C): sum over t of p[t,c]; empty: the head's sums are not wanted

    void shape_for(const HeadTable& table) {
      weights.resize(table.weights.size());
      bias.resize(table.bias.size());
    }
  };
  Head emission;                    // p = P(c|t)
  Head start, finish;               // p: a segment of label c starts at t, or has its last position there
  std::vector<double> first, last;  // (C): P(c|0), P(c|T-1)
};

// Where posteriors go; null pointers are not computed. Rows are the positions of the range. Probabilities in
// [0, 1].
struct PosteriorArrays {
  double* boundary = nullptr;  // (n): a segment starts at t
  double* labels = nullptr;    // (n, C): P(c|t), the gradient of log Z by the centred emissions
  double* starts = nullptr;    // (n, C): a segment of label c starts at t; gradient by the start scores
  double* ends =
      nullptr;  // (n, C): a segment of label c has its last position at t; gradient by the end scores
  ExpectedCounts* counts = nullptr;  // added to, in chunk order; a window computed again adds again
  // Likewise; of windows with features, for engines that project. Several sequences may share one.
  ExpectedFeatures* features = nullptr;
};

struct PosteriorWindow {
  BoundaryState right_forward;  // true forward state at range.end (log semiring)
  BoundaryState left_backward;  // backward state at range.begin that the results were computed with
  BoundaryState
      right_warmed;  // the backward state that was warmed up at range.end (empty ring where range.end == T)
  std::vector<ChunkReport> chunks;
};

// Where forward messages go; null pointers are not computed. Rows are the positions of the range; natural
// logarithms, to the precision of the engine; -inf: impossible. The true message is `whole + value` with the
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
  BoundaryState right;  // true forward state at range.end (log semiring)
  double whole = 0;
  std::vector<ChunkReport> chunks;
};

// What is known of a whole sequence that was one of several.
struct SequenceResult {
  double log_partition = 0;  // log Z; -inf: no path exists
  std::vector<ChunkReport> chunks;
};

// The best path of a whole sequence that was one of several.
struct SequencePath {
  bool feasible = false;          // false: no path exists
  std::vector<Segment> reversed;  // right to left
  std::vector<ChunkReport> chunks;
};

// A window of a sequence as memory planning sees it.
struct WindowShape {
  std::int64_t length = 0;      // T of the sequence
  std::int64_t positions = 0;   // of the window
  std::int64_t read = 0;        // with its halos
  std::size_t score_bytes = 0;  // per position, all arrays
};

// Scores of a whole sequence that an engine is copying ahead of their use. Copying ends when it is destroyed,
// which must be before the engine is. For the thread that uses the engine.
class ScorePrefetch {
 public:
  virtual ~ScorePrefetch() = default;
  // Whether all scores of positions [0, end) are known to be finite or -inf. Waits for them.
  virtual bool sound(std::int64_t end) = 0;
  // Of all emissions; nothing when some scores are not sound, or not there. Waits for them.
  virtual std::optional<BlockSums> block_sums(double mask) = 0;
};

class Engine {
 public:
  virtual ~Engine() = default;

  virtual std::string_view name() const = 0;    // "reference", "cpu" or "cuda"
  virtual std::string description() const = 0;  // for logs: instruction set, precision, threads
  virtual const ChainModel& model() const = 0;
  virtual Precision precision() const = 0;
  virtual ChunkGrid grid() const = 0;

  // Peak bytes an engine allocates for a window of this many positions of one sequence, scores and outputs
  // not included.
  virtual std::size_t viterbi_bytes(std::int64_t positions, bool keep_messages) const = 0;
  virtual std::size_t posterior_bytes(std::int64_t positions, bool counts = false) const = 0;

  // Engines with memory of their own: the bytes they may take of it (nothing: there is none), and the peak
  // that a window needs there, scores and outputs included. The functions above then count what they take of
  // the host's.
  virtual std::optional<std::size_t> device_memory() const { return std::nullopt; }
  virtual std::size_t viterbi_device_bytes(const WindowShape&) const { return 0; }
  virtual std::size_t posterior_device_bytes(const WindowShape&, bool /*counts*/) const { return 0; }

  // Whether windows of this shape are joined: the path through a window is followed as soon as it was
  // computed, from the best label at its right edge, and of its messages only the right edge is kept. Paths
  // run together, so that few windows must be computed again when the true path is known to come from
  // elsewhere. Edges of all windows are part of what a window needs, and their scores need not stay valid on
  // the host.
  virtual bool joins_windows(const WindowShape&) const { return false; }

  // `whole` covers a sequence that lies in memory and stays there, unchecked yet; windows of it with the same
  // ScoreWindow::sequence will be asked for from left to right. An engine may begin to copy, or go on with
  // what it has begun of that sequence. May be null.
  virtual std::unique_ptr<ScorePrefetch> prefetch(const ScoreWindow& /*whole*/) { return nullptr; }

  // Whether windows may come with features in place of scores; forward() gives no messages of such.
  virtual bool projects() const { return false; }

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

  // Several whole sequences at once: the digits and segments are those of forward(), viterbi() and its
  // messages, and posteriors(), one sequence after the other. Every window covers its sequence. `out`: what is
  // wanted of each, without counts; those of all sequences are added to `counts`, in their order, unless it
  // is null.
  virtual std::vector<SequenceResult> log_partitions(std::span<const ScoreWindow> sequences);
  virtual std::vector<SequencePath> viterbi_of(std::span<const ScoreWindow> sequences);
  virtual std::vector<SequenceResult> posteriors_of(std::span<const ScoreWindow> sequences,
                                                    std::span<const PosteriorArrays> out,
                                                    ExpectedCounts* counts);
  // Positions that a call of these should bring; a function of the model. 0: several sequences are computed
  // no faster than one by one.
  virtual std::int64_t batch_positions() const { return 0; }
};

// Positions of the edges that are kept of windows that are joined: enough for paths to run together.
inline std::int64_t joining_edge(int max_duration) {
  return (16 * std::int64_t{max_duration} + 4096 + 63) / 64 * 64;
}

// log Z (log semiring) or the best score (max semiring) from the forward state at T; -inf when no path
// exists.
double log_sum(const BoundaryState& state_at_end);
double best_final_score(const BoundaryState& state_at_end, int* best_label);

// How an engine is chosen.
struct EngineOptions {
  enum class Backend { kAuto, kReference, kCpu, kCuda };
  Backend backend = Backend::kAuto;
  Precision precision = Precision::kFloat;
  int threads = 1;
  std::vector<int> devices;       // GPUs, as CUDA numbers them; empty: the first
  std::size_t device_memory = 0;  // bytes that may be used of a GPU; 0: the engine's choice
  bool spread_windows = false;    // over all the GPUs; else the engine is on the first of them
  std::string
      instruction_set;  // empty: the best this processor has; else a name of available_instruction_sets()
};

// The only function that knows which engines exist. Throws DeviceError when a forced choice cannot run here.
std::unique_ptr<Engine> make_engine(const EngineOptions& options, ChainModel model);

std::vector<std::string> available_instruction_sets();

// Pairs of single-precision operations per second that one thread of this processor does out of registers:
// the limits the engines are measured against. Takes a second.
struct ArithmeticPeaks {
  double add_max = 0;       // an addition and a maximum: the max semiring
  double multiply_add = 0;  // a multiplication and an addition: the log semiring
};
ArithmeticPeaks measure_arithmetic_peaks();

// Seconds to bring `bytes` to the engine's device as it brings scores there, or to read them where it
// computes in the host's memory. Nothing is computed.
double measure_copy_seconds(const EngineOptions& options, std::span<const unsigned char> bytes);

}  // namespace semicrf
