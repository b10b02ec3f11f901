// Cut edges in windows of their own (docs/algorithm.md, "Cut edges").
//
// Only near a cut does it matter that a piece was cut: once a first segment has lasted longer than K, what
// will become of it is what becomes of any other segment that is longer than K. So a long piece has the chain
// of its EdgeRoles in one window at each cut edge, and the model's own chain between them. A state of the
// model's own labels crosses from one window to the next.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/boundary_state.h"
#include "engine/engine.h"
#include "model/scores/edge_roles.h"
#include "model/scores/score_source.h"
#include "windows/window_plan.h"

namespace semicrf {

// The first or the last window of a piece whose edge there is cut.
struct EdgeWindow {
  std::int64_t positions = 0;           // 0: the edge has no window of its own
  const EdgeRoles* roles = nullptr;     // roles of a piece that is cut at this edge alone
  Engine* engine = nullptr;             // has the chain of `roles`, and computes in the host's memory
  std::shared_ptr<ScoreSource> scores;  // scores of that chain
  std::shared_ptr<ScoreSource> plain;   // scores of the model's own labels
  // Those of the chain without constraints, where `scores` has any; else null.
  std::shared_ptr<ScoreSource> unconstrained;

  bool exists() const { return positions > 0; }
};

struct EdgeWindows {
  EdgeWindow left, right;
  const EdgeRoles* roles = nullptr;  // roles of the piece; they say what its first and last segment score
};

// The labels of the chain that an engine and a source of scores have.
struct PieceChain {
  // The roles of the labels of a piece that was cut: engine and source have their chain, results the labels
  // of the base. Null: all of them have the labels of the model.
  const EdgeRoles* roles = nullptr;
  // The windows at the edges of a piece that was cut; engine and source are those of the model. Null: the
  // edges have no windows of their own.
  const EdgeWindows* edges = nullptr;
  bool mirrored = false;  // whether all of that is of the reversed sequence

  // The roles of the cut edges of the piece; null: it has none.
  const EdgeRoles* cut() const { return edges != nullptr ? edges->roles : roles; }
  // The model whose labels results have, where `engine` is that of the piece.
  const ChainModel& model(const Engine& engine) const {
    return roles != nullptr ? roles->base() : engine.model();
  }
};

// The shortest windows whose inner edges lie further than K and a warm-up from the cuts, such that the
// windows between them may be computed by `engine`, which has the model's own chain. None where the piece is
// too short for that, or cannot be cut into windows.
EdgeLengths edge_lengths(const Engine& engine, CutEdges cut, std::int64_t length);

EdgeLengths lengths_of(const EdgeWindows* edges);  // null: none
// The same windows have other lengths where another engine computes what lies between them.
EdgeWindows resized(EdgeWindows edges, EdgeLengths lengths);

// A state of the model's labels, at a boundary that lies further than K from the cut edge of `roles`, in the
// labels of roles.chain(): forward into the last window, or backward into the first one.
BoundaryState with_roles(const BoundaryState& state, const EdgeRoles& roles, Semiring semiring);
// The other way round: forward out of the first window, or backward out of the last one.
BoundaryState without_roles(const BoundaryState& state, const EdgeRoles& roles, Semiring semiring);

// A place of the traceback at the right edge of the first window, in the model's labels, in those of the
// chain of `roles`. `state`: the forward state there (max semiring), in the labels of the chain.
TraceCursor with_roles(const TraceCursor& cursor, const EdgeRoles& roles, const BoundaryState& state);

}  // namespace semicrf
