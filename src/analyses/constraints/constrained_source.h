// The scores of a piece under constraints: the same distribution, without what the constraints forbid.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "core/chain_model.h"
#include "engine/engine.h"
#include "inputs/statements/constraint_file.h"
#include "model/scores/score_source.h"
#include "windows/edge_windows.h"
#include "windows/window_loop.h"

namespace semicrf {

// The memory that a ConstrainedSource of `source` takes, for plans; it cannot be read.
class ConstrainedShape : public ScoreSource {
 public:
  ConstrainedShape(const ScoreSource& source, const ChainModel& model)
      : source_(source), made_(3 * sizeof(double) * model.num_labels) {}

  std::int64_t length() const override { return source_.length(); }
  // This includes what is read of `source`.
  std::size_t bytes_per_position() const override { return source_.bytes_per_position() + made_; }
  std::size_t score_bytes() const override { return std::max(source_.score_bytes(), made_); }
  ScoreWindow read(std::int64_t, std::int64_t, ScoreBuffers&) override {
    throw std::logic_error("a plan reads scores");
  }

 private:
  const ScoreSource& source_;
  std::size_t made_;  // emissions, start and end scores
};

// Every segmentation that meets the constraints has the score that it has in `source`, all others -inf; those
// that lack required boundaries have `penalty` less for each. Where that is more than all of them together
// have before the others, they do not count, and the difference of the two log Z is the logarithm of the
// probability of the constraints (docs/algorithm.md, section 13).
//
// Scores are doubles and centred already, with what the scores of `source` say: constraints do not move the
// centre. The arithmetic of a window does not depend on whether a constraint is in it.
class ConstrainedSource : public ScoreSource {
 public:
  // All must outlive it. `constraints` may be empty. `threads`: for the positions of a window. `penalty`: a
  // power of two, from ConstraintPasses.
  ConstrainedSource(ScoreSource& source, const ChainModel& model, std::span<const Constraint> constraints,
                    int threads, double penalty);

  std::int64_t length() const override { return source_.length(); }
  std::size_t bytes_per_position() const override {
    return ConstrainedShape(source_, model_).bytes_per_position();
  }
  std::size_t score_bytes() const override { return ConstrainedShape(source_, model_).score_bytes(); }
  ScoreWindow read(std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) override;

 private:
  void look_for_edges();
  void fill(const ScoreWindow& plain, ScoreBuffers& buffers, std::int64_t begin) const;
  void apply(const Constraint& constraint, std::int64_t begin, std::int64_t end, ScoreBuffers& buffers) const;

  ScoreSource& source_;
  HostProjection projected_;
  const ChainModel& model_;
  std::span<const Constraint> constraints_;
  int threads_;
  double penalty_;
  bool looked_ = false;                         // whether the next two are known
  bool has_starts_ = false, has_ends_ = false;  // whether windows have start and end scores
  ScoreBuffers plain_;
};

// A piece under constraints: its scores, and those of the windows at its cut edges.
class ConstrainedPiece {
 public:
  // `model`: of the chain that `source` has, `chain`: its labels; `constraints`: in the labels of the model
  // that results are about. As for ConstrainedSource; all but `constraints` must outlive it.
  ConstrainedPiece(const ChainModel& model, ScoreSource& source, const PieceChain& chain,
                   std::span<const Constraint> constraints, int threads, double penalty);
  ConstrainedPiece(const ConstrainedPiece&) = delete;
  ConstrainedPiece& operator=(const ConstrainedPiece&) = delete;

  ScoreSource& source() { return *source_; }
  const PieceChain& chain() const { return chain_; }

 private:
  EdgeWindow constrained(const EdgeWindow& window);
  std::shared_ptr<ScoreSource> constrained(ScoreSource& source, const ChainModel& model,
                                           const EdgeRoles* roles);

  std::span<const Constraint> constraints_;
  int threads_;
  double penalty_;
  std::deque<std::vector<Constraint>> with_roles_;  // constraints of chains with roles
  std::shared_ptr<ScoreSource> source_;
  EdgeWindows edges_;
  PieceChain chain_;
};

// The passes over a piece that constraints need in addition to those of its analyses: for their probability,
// and to find the first constraint that contradicts those before it.
//
// Constraints of one piece, sorted by where they begin.
using Constraints = std::span<const Constraint>;

bool require_boundaries(Constraints constraints);

// The probability and the penalty of constraints that can be met.
struct ConstraintFindings {
  double log_probability = 0;  // natural logarithm, at most 0
  double penalty = 0;          // penalty under which segmentations that lack a boundary count for nothing

  // Whether a probability, found under a penalty, may be that of segmentations that lack a required boundary.
  // `log` is its natural logarithm.
  bool may_lack_boundary(double log, double with_penalty) const;
};

// The largest penalty that is tried.
inline constexpr double kLargestPenalty = 0x1p33;

class ConstraintPasses {
 public:
  // `source`: the scores without constraints. `plan`: made with log_needs() of a ConstrainedSource. All must
  // outlive it. `threads`: for what the host does.
  ConstraintPasses(Engine& engine, ScoreSource& source, const PieceChain& chain, const WindowPlan& plan,
                   int threads)
      : engine_(engine), source_(source), chain_(chain), plan_(plan), threads_(threads) {}

  // The probability and the penalty of the constraints; nothing where no segmentation with a finite score
  // meets them. Takes two passes as a rule, whose positions `progress` counts.
  std::optional<ConstraintFindings> find(Constraints constraints, const ProgressCallback& progress = {});
  // The index of the first constraint that cannot be met together with those before it, given that all of
  // them together cannot be met; nothing where no segmentation is possible even without constraints. Takes
  // many passes: it is for errors.
  std::optional<std::size_t> first_impossible(Constraints constraints);

 private:
  double log_partition(Constraints constraints, double penalty, const ProgressCallback& progress);
  double unconstrained(const ProgressCallback& progress);

  Engine& engine_;
  ScoreSource& source_;
  PieceChain chain_;
  const WindowPlan& plan_;
  int threads_;
  std::optional<double> unconstrained_;  // log Z
};

}  // namespace semicrf
