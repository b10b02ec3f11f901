#include "pipeline/piece_work.h"

#include <algorithm>

namespace semicrf {
namespace {

PosteriorSelection selection_of(const Analysis& analysis, const SegmentList* path) {
  PosteriorSelection selection;
  selection.labels = analysis.label_posteriors;
  selection.path = path;
  selection.path_edges = analysis.path_edges;
  return selection;
}

// Calls visit(is Viterbi, needs) for each kind of pass over the piece.
template <class Visit>
void for_each_pass(const Engine& engine, const ScoreSource& source, const Analysis& analysis, Visit visit) {
  if (analysis.viterbi) visit(true, viterbi_needs(engine, source));
  if (!analysis.posteriors) return;
  const SegmentList some_path;
  visit(false,
        posterior_needs(engine, source, selection_of(analysis, analysis.viterbi ? &some_path : nullptr)));
}

}  // namespace

std::size_t PiecePlan::bytes() const {
  return std::max(viterbi ? viterbi->bytes : 0, posteriors ? posteriors->bytes : 0);
}

bool PiecePlan::whole() const {
  return (!viterbi || viterbi->count() == 1) && (!posteriors || posteriors->count() == 1);
}

std::size_t comfortable_bytes(const Engine& engine, const ScoreSource& source, const Analysis& analysis) {
  std::size_t bytes = 0;
  for_each_pass(engine, source, analysis, [&](bool, const WindowNeeds& needs) {
    bytes = std::max(bytes, comfortable_window_bytes(source.length(), engine.grid(), needs));
  });
  return bytes;
}

std::size_t whole_bytes(const Engine& engine, const ScoreSource& source, const Analysis& analysis) {
  const std::int64_t length = source.length();
  std::size_t bytes = 0;
  for_each_pass(engine, source, analysis, [&](bool, const WindowNeeds& needs) {
    const std::size_t rows = (needs.score_bytes + needs.output_bytes) * static_cast<std::size_t>(length);
    bytes = std::max(bytes, needs.engine_bytes(length) + rows);
  });
  return bytes;
}

PiecePlan plan_piece(const Engine& engine, const ScoreSource& source, const Analysis& analysis,
                     std::size_t budget) {
  PiecePlan plan;
  for_each_pass(engine, source, analysis, [&](bool viterbi, const WindowNeeds& needs) {
    (viterbi ? plan.viterbi : plan.posteriors) = plan_windows(source.length(), engine.grid(), needs, budget);
  });
  return plan;
}

PieceResult analyse_piece(Engine& engine, ScoreSource& source, const Analysis& analysis,
                          const PiecePlan& plan, const BlockSink& sink, const ProgressCallback& progress) {
  PieceResult result;
  if (analysis.viterbi) {
    result.viterbi = decode_viterbi(engine, source, *plan.viterbi, progress);
    if (!result.viterbi->feasible) return result;
  }
  if (analysis.posteriors) {
    const ViterbiResult* path = result.viterbi ? &*result.viterbi : nullptr;
    result.posteriors = sweep_posteriors(
        engine, source, *plan.posteriors, selection_of(analysis, path ? &path->segments : nullptr),
        [&](const PosteriorBlock& block) { sink(path, block); }, progress);
  }
  return result;
}

}  // namespace semicrf
