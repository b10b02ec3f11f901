// The engine and the scores that a piece is computed with.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "analyses/analysis.h"
#include "analyses/posteriors/posterior_sweep.h"
#include "core/chain_model.h"
#include "io/text/chromosomes.h"
#include "model/scores/score_source.h"
#include "runs/engine_pool.h"
#include "windows/edge_windows.h"

namespace semicrf {

// The last look at posteriors before they reach an output.
//
// Opens the scores of a piece once more.
using OpenSource = std::function<std::unique_ptr<ScoreSource>()>;

// Throws where a posterior is no number, which no output may hold, and names sequence and bases of the first
// one. InputError where a score of the piece or of its model is 1e12 or more in magnitude, beside which the
// others have no digits; else std::logic_error, as no user can mend it.
void check_posteriors(const PosteriorBlock& block, const BinLocation& location, const ChainModel& model,
                      const OpenSource& open);

struct PieceSetup {
  std::unique_ptr<Engine> own;  // the engine of sites, which are those of the piece; else null
  Engine* engine = nullptr;
  std::unique_ptr<ScoreSource> source;  // scores for the engine
  PieceChain chain;                     // roles or edge windows of a piece that was cut
  // The windows at the edges of a piece that was cut and is long enough for them, else null.
  std::unique_ptr<EdgeWindows> edges;
};

// Sets up a piece of `bins` positions, which are there, with these cut edges. `open` gives its scores in the
// labels of the model; it may be called several times. Scores that are read from several sources are read by
// one thread at a time.
PieceSetup set_up_piece(const EnginePool& engines, const EnginePool::Worker& worker,
                        const BinLocation& location, CutEdges cut, std::int64_t bins, const OpenSource& open);

}  // namespace semicrf
