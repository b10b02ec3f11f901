// Posteriors of a sequence of any length in bounded memory: windows left to right with provisional backward
// states, proven from the sequence's real end, released left to right (docs/algorithm.md, "Bounded memory").
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "analyses/viterbi/segment_list.h"
#include "engine/engine.h"
#include "model/scores/edge_roles.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

struct PosteriorBlock;

// An observer that adds up posteriors as they are computed, before they are rounded.
class PosteriorObserver {
 public:
  virtual ~PosteriorObserver() = default;
  // All positions come once more, from the first one on.
  virtual void restart() = 0;
  // The next positions, from left to right: labels, starts and ends, and the scores of the model.
  virtual void add(const PosteriorBlock& block, const ScoreWindow& scores) = 0;
};

// The posteriors and sums that are wanted in addition to the boundary posterior of every position.
struct PosteriorSelection {
  bool labels = false;                // P(c|t) of every label
  bool starts = false;                // P(a segment of label c starts at t)
  bool ends = false;                  // P(a segment of label c has its last bin at t)
  const SegmentList* path = nullptr;  // P(label|t) of the label this path has there; it tiles the sequence
  bool path_edges = false;            // start and end posteriors of that label too; with a path
  bool path_next = false;             // start and end posteriors of the path's next label too; with
                                      // path_edges
  bool sums = false;                  // PosteriorResult::sums, without the counts
  bool counts = false;                // PosteriorResult::sums, with the counts
  ScoreSource* scored = nullptr;  // scores that the entropy is computed from; null: those of the sequence;
                                  // with sums
  PosteriorObserver* observer = nullptr;  // gets the posteriors that sums are made of; with sums or counts
  int threads = 1;                        // threads of the host, which add up the sums
  // The roles of a piece that was cut, whose chain the engine has. Posteriors and counts are those of the
  // base model's labels; an observer gets those of the chain's. Null: the engine's labels are those of the
  // model.
  const EdgeRoles* roles = nullptr;
  // The windows at the cut edges, where the plan has them, else null; only without roles, and not with an
  // observer. Those of `scored` are their EdgeWindow::unconstrained.
  const EdgeWindows* edges = nullptr;

  bool needs_sums() const { return sums || counts; }
  bool has_edges() const { return path != nullptr && path_edges; }
};

// The posteriors of consecutive positions. Arrays that were not asked for are empty.
struct PosteriorBlock {
  PositionRange range;
  std::span<const double> boundary;    // (n): a segment starts at t
  std::span<const double> labels;      // (n, C)
  std::span<const double> starts;      // (n, C)
  std::span<const double> ends;        // (n, C)
  std::span<const double> path_label;  // (n)
  std::span<const double> path_start;  // (n)
  std::span<const double> path_end;    // (n)
  // (n): a segment of the label of the path's next segment starts at t, has its last bin there; 0 in the last
  // segment.
  std::span<const double> path_next_start;
  std::span<const double> path_next_end;
};
// All arrays of a block, for those who treat them alike.
inline constexpr std::array kPosteriorArrays = {
    &PosteriorBlock::boundary, &PosteriorBlock::labels,          &PosteriorBlock::starts,
    &PosteriorBlock::ends,     &PosteriorBlock::path_label,      &PosteriorBlock::path_start,
    &PosteriorBlock::path_end, &PosteriorBlock::path_next_start, &PosteriorBlock::path_next_end};
using PosteriorSink = std::function<void(const PosteriorBlock&)>;  // called left to right

// Sums over all positions of a sequence under P(y|x).
struct PosteriorSums {
  ExpectedCounts counts;               // the gradients of log Z by transitions, durations and tails; or empty
  double entropy = 0;                  // entropy of the segmentation, nats
  double entropy_uncertainty = 0;      // nats, see ExpectedScore::uncertainty
  std::vector<double> label_bins;      // (C): sum over t of P(c|t)
  std::vector<double> label_segments;  // (C): sum over t of P(a segment of label c starts at t)
  std::vector<double> label_entropies;  // (C): sum over t of -P(c|t) ln P(c|t), nats
  std::vector<double> last_bin;         // (C): P(c|T-1)
};

struct PosteriorResult : ChunkTotals {
  bool feasible =
      false;  // false: no segmentation has a finite score; nothing was released, nothing else is set
  double log_partition = 0;
  double boundary_mass = 0;   // sum over t = 0..T-1 of p(a segment starts at t)
  double boundary_plogp = 0;  // sum of p ln p
  double label_entropy = 0;   // nats, sum over t of the entropy of P(label|t)
  double max_normalization_error = 0;
  std::optional<PosteriorSums> sums;
};

// Entropy in nats of the distribution p / sum p.
double boundary_entropy(double mass, double plogp);

WindowNeeds posterior_needs(const Engine& engine, const ScoreSource& source,
                            const PosteriorSelection& selection);

// Released values are rounded to the engine's precision, so that they have the same digits however the
// sequence was cut. So have the sums, which are made of the values before they are rounded.
PosteriorResult sweep_posteriors(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                                 const PosteriorSelection& selection, const PosteriorSink& sink,
                                 const ProgressCallback& progress = {});

// sweep_posteriors() for several whole sequences that lie in memory, by one call of the engine. `sink` gets
// the index and the posteriors of each feasible sequence, in any order and from several threads. No selection
// has sums: an engine adds the counts of all sequences of a call together.
using IndexedPosteriorSink = std::function<void(std::size_t, const PosteriorBlock&)>;
std::vector<PosteriorResult> posteriors_together(Engine& engine, std::span<const ScoreWindow> sequences,
                                                 std::span<const PosteriorSelection> selections,
                                                 const IndexedPosteriorSink& sink, int threads);

}  // namespace semicrf
