// Computes all analyses of a list, of a piece or of several together.
#pragma once

#include <span>
#include <vector>

#include "analyses/piece_plan.h"

namespace semicrf {

// Stops behind an analysis that finds no segmentation with a finite score. InputError where segmentations are
// possible, but none that meets the constraints. `plan`: made by plan_piece().
PieceResult analyse_piece(Engine& engine, ScoreSource& source, const PieceChain& chain,
                          const AnalysisList& analyses, const PiecePlan& plan, const PieceIdentity& identity,
                          const BlockSink& sink, const ProgressCallback& progress);

// analyse_piece() for several whole pieces whose scores lie in memory, by one call of the engine per pass,
// where AnalysisList::computes_together(). `sink` gets the index of a piece and its posteriors, from several
// threads; `threads`: for what the host does.
std::vector<PieceResult> analyse_together(Engine& engine, std::span<const ScoreWindow> pieces,
                                          const AnalysisList& analyses, const IndexedPosteriorSink& sink,
                                          int threads);

}  // namespace semicrf
