// N-best (k-best) decoding: the N best segmentations of a sequence of any length in bounded memory
// (docs/algorithm.md, "The N best").
//
// At every node of a traceback the forward messages of the max semiring say how much each choice loses
// against the best one, whatever lies to the right. A segmentation is given by its deviations from best
// choices (choices.h). The windows are swept left to right for the states at their edges, then right to
// left for the deviations that the N best segmentations are made of (deviation_search.h), which are ranked at
// the end (deviation_search.h). Memory grows with N and with what the segmentations differ in, not with N
// times the length of the sequence.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analyses/analysis.h"
#include "analyses/best_paths/deviation_search.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "engine/options.h"
#include "windows/edge_windows.h"
#include "windows/window_loop.h"

namespace semicrf {

inline constexpr int kMostBestPaths = 1000;

struct BestPaths : ChunkTotals {
  struct Rank {
    double score = 0;            // score of the path, see ViterbiResult::score
    double log_probability = 0;  // ln P(y|x)
  };
  double log_partition = 0;
  std::vector<Rank> ranks;  // one per segmentation, all of them distinct, the best first

  // The segments of rank 0, 1, ...; `best`: those of rank 0. The list is made on demand, so that not all need
  // be in memory at once.
  SegmentList segments(std::size_t rank, const SegmentList& best) const {
    return segments_of(paths[rank], deviations, best, length);
  }

  std::int64_t length = 0;
  Deviations deviations;
  std::vector<RankedPath> paths;
};

struct BestPathsRequest {
  int most = 1;          // number of segmentations
  EngineOptions engine;  // engine options of the run
  int threads = 1;       // threads of the engine that is made where the run's own has no such messages
};

WindowNeeds best_paths_needs(const Engine& engine, const ScoreSource& source);

// `best`: the best path of the source, which has one; it is rank 0. `plan`: made with best_paths_needs().
// Neither windows nor threads change the result. Labels of `best` and of the result are those of the model.
BestPaths find_best_paths(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                          const PieceChain& chain, const ViterbiResult& best, const BestPathsRequest& request,
                          const ProgressCallback& progress = {});

// The N best segmentations (k-best) as an analysis.
//
// Result: BestPaths. Its first path is that of ViterbiDecoding, which stands before it in the list.
class KBest : public Analysis {
 public:
  // `most` >= 1: the number of paths. `memory`: bytes of each path and its output file, windows not included.
  KBest(int most, std::size_t memory) : most_(most), memory_(memory) {}

  std::string title() const override { return "best segmentations"; }
  int passes() const override { return 3; }
  int sweeps() const override { return 2; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  std::size_t kept_bytes() const override { return most_ * memory_; }
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  double least_penalty() const override;
  void settle(const PieceContext& context, const WindowPlan& plan, std::span<const Constraint> constraints,
              const ConstraintFindings& found, PieceResult& result) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;

 private:
  int most_;
  std::size_t memory_;
};

}  // namespace semicrf
