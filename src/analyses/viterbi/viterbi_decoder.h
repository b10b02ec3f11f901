// The best segmentation of a sequence of any length in bounded memory: windows left to right for the forward
// states, then right to left for the path (docs/algorithm.md, "Bounded memory" and "Viterbi without
// back-pointers").
#pragma once

#include <optional>
#include <string>

#include "analyses/analysis.h"
#include "analyses/viterbi/segment_list.h"
#include "engine/batch.h"
#include "engine/engine.h"
#include "model/scores/score_source.h"
#include "windows/window_loop.h"

namespace semicrf {

struct ViterbiResult : ChunkTotals {
  bool feasible = false;        // false: no segmentation has a finite score; nothing else is set then
  std::optional<double> score;  // score of the path, rescored in double, if it was asked for
  SegmentList segments;         // left to right
};

// The score of a path costs another look at all scores, on the host.
enum class PathScoring { kNone, kRescore };

// The memory needs of Viterbi decoding, for the planning of windows.
WindowNeeds viterbi_needs(const Engine& engine, const ScoreSource& source);

// Decodes the whole of `source` over `plan`. Every engine, window size and thread count gives the same
// result. `threads`: for the path's score; `edges`: the windows at the cut edges where `plan` has them, else
// null.
ViterbiResult decode_viterbi(Engine& engine, ScoreSource& source, const WindowPlan& plan,
                             const ProgressCallback& progress = {}, int threads = 1,
                             PathScoring scoring = PathScoring::kRescore, const EdgeWindows* edges = nullptr);

// What decode_viterbi() makes of the whole sequence `scores`, whose path is known.
ViterbiResult known_path(const ChainModel& model, const ScoreWindow& scores, const SequencePath& path,
                         PathScoring scoring = PathScoring::kRescore);

// The best path of a piece (Viterbi) as an analysis.
//
// Result: ViterbiResult, whose segments are the path.
class ViterbiDecoding : public Analysis {
 public:
  explicit ViterbiDecoding(PathScoring scoring = PathScoring::kRescore) : scoring_(scoring) {}

  std::string title() const override { return "Viterbi"; }
  int passes() const override { return 2; }
  int sweeps() const override { return 1; }
  WindowNeeds needs(const Engine& engine, const ScoreSource& source, const PieceChain& chain) const override;
  std::size_t workspace_bytes(const Engine& engine, std::int64_t positions) const override;
  bool knows_sites() const override { return true; }
  bool computes_together() const override { return true; }
  bool finds_path() const override { return true; }
  void run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
           const BlockSink& sink) const override;
  void run_together(const PiecesContext& context, std::span<PieceResult> results) const override;
  void record(const PieceRecord& piece, SequenceReport& report) const override;
  void record_infeasible(SequenceReport& report) const override;

 private:
  PathScoring scoring_;
};

}  // namespace semicrf
