// Which engine and which scores a piece is computed with.
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
  std::unique_ptr<ScoreSource> source;  // for the engine
  PieceChain chain;                     // of a piece that was cut
  // Of a piece that was cut and is long enough: where its edges have windows of their own.
  std::unique_ptr<EdgeWindows> edges;
};

// For a piece of `bins` positions with these cut edges. `open`: its scores in the labels of the model; may be
// called several times. Scores that are read from several sources are read by one thread at a time.
PieceSetup set_up_piece(const EnginePool& engines, const EnginePool::Worker& worker,
                        const AnalysisList& analyses, CutEdges cut, std::int64_t bins,
                        const OpenSource& open);

}  // namespace semicrf
