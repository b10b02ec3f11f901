// N-best (k-best) decoding: the N best segmentations of a sequence of any length in bounded memory
// (docs/algorithm.md, "The N best").
//
// Messages of the max semiring say at every node how much each choice loses against the best one, whatever
// lies to the right. Windows left to right for the states, then right to left for the deviations that the N
// best segmentations are made of. What is kept grows with N and with what the segmentations differ in, not
// with N times the sequence.
#pragma once

#include <cstddef>
#include <vector>

#include "analyses/best_paths/path_ranking.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "engine/options.h"
#include "model/scores/edge_roles.h"
#include "windows/window_loop.h"

namespace semicrf {

inline constexpr int kMostBestPaths = 1000;

struct BestPaths : ChunkTotals {
  struct Rank {
    double score = 0;            // as ViterbiResult::score
    double log_probability = 0;  // ln P(y|x)
  };
  double log_partition = 0;
  std::vector<Rank> ranks;  // of distinct segmentations, the best first

  // Of rank 0, 1, ...; `best`: the segments of rank 0. A copy, so that not all need be in memory at once.
  SegmentList segments(std::size_t rank, const SegmentList& best) const {
    return segments_of(paths[rank], deviations, best, length, roles);
  }

  std::int64_t length = 0;
  int roles = 1;  // of each label, EdgeRoles::count()
  Deviations deviations;
  std::vector<RankedPath> paths;
};

struct BestPathsRequest {
  int most = 1;          // paths
  EngineOptions engine;  // of the run
  int threads = 1;       // of an engine that is made because that of the run has no such messages
};

WindowNeeds best_paths_needs(const Engine& engine, const ScoreSource& source);

// `best`: the best path of the source, which has one; it is rank 0. `plan` by best_paths_needs(). Windows and
// threads change nothing. `roles`: of a piece that was cut, whose chain the engine has; `best` and the result
// have the labels of its base. Null: there are none.
BestPaths find_best_paths(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                          const ViterbiResult& best, const EdgeRoles* roles, const BestPathsRequest& request,
                          const ProgressCallback& progress = {});

}  // namespace semicrf
