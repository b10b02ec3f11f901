// Computes all analyses of a list, of a piece or of several together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analyses/analysis.h"
#include "windows/memory_budget.h"

namespace semicrf {

// How the analyses of a piece fit into memory.
struct PiecePlan {
  // The windows of each analysis in the order of the list; last, where there are constraints, those of their
  // passes.
  std::vector<WindowPlan> windows;
  int threads = 1;  // threads of the host, in addition to those of the engine

  bool whole() const;  // whether every pass has one window
};

// Bytes of windows that are long enough not to waste work (comfortable), and for all threads (ample).
WindowWish window_wish(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                       const AnalysisList& analyses);

// Bytes of the piece in one window or, where its edges have windows of their own, in one between them.
std::size_t whole_bytes(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                        const AnalysisList& analyses);

// Bytes of the rows of the piece (scores and outputs) without what the engine takes; and of the engine alone,
// for so many positions.
std::size_t row_bytes(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                      const AnalysisList& analyses);
std::size_t engine_bytes(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                         const AnalysisList& analyses, std::int64_t positions);

// Throws MemoryError when the piece cannot be divided finely enough for `budget` bytes.
PiecePlan plan_piece(const Engine& engine, const ScoreSource& source, const PieceChain& chain,
                     const AnalysisList& analyses, std::size_t budget);

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
