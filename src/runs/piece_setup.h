// The engine and the scores that a piece is computed with.
#pragma once

#include <cstdint>
#include <memory>

#include "analyses/analysis_list.h"
#include "runs/check_posteriors.h"
#include "runs/engine_pool.h"
#include "windows/edge_windows.h"

namespace semicrf {

struct PieceSetup {
  Engine* engine = nullptr;
  std::unique_ptr<ScoreSource> source;  // scores for the engine
  PieceChain chain;                     // roles or edge windows of a piece that was cut
  // The windows at the edges of a piece that was cut and is long enough for them, else null.
  std::unique_ptr<EdgeWindows> edges;
};

// Sets up a piece of `bins` positions with these cut edges. `open` gives its scores in the labels of the
// model; it may be called several times. Scores that are read from several sources are read by one thread at
// a time.
PieceSetup set_up_piece(const EnginePool& engines, const EnginePool::Worker& worker,
                        const AnalysisList& analyses, CutEdges cut, std::int64_t bins,
                        const OpenSource& open);

}  // namespace semicrf
