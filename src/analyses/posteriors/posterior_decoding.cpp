#include "analyses/posteriors/posterior_decoding.h"

#include <memory>
#include <utility>
#include <vector>

#include "analyses/posteriors/posteriors.h"
#include "analyses/sequence_report.h"

namespace semicrf {

PosteriorSelection PosteriorDecoding::selection(const PieceChain& chain, int threads) const {
  PosteriorSelection selection;
  selection.labels = selection.starts = true;
  selection.sums = sums_;
  selection.threads = threads;
  selection.roles = chain.roles;
  selection.edges = chain.edges;
  return selection;
}

WindowNeeds PosteriorDecoding::needs(const Engine& engine, const ScoreSource& source,
                                     const PieceChain& chain) const {
  return posterior_needs(engine, source, selection(chain, 1));
}

void PosteriorDecoding::run(const PieceContext& context, const WindowPlan& plan, PieceResult& result,
                            const BlockSink&) const {
  PosteriorPathFinder finder(context.model(), gamma_, thresholds_);
  PosteriorResult posteriors = sweep_certainly(context, plan, selection(context.chain, context.threads),
                                               [&](const PosteriorBlock& block) { finder.add(block); });
  result.feasible = posteriors.feasible;
  if (!posteriors.feasible) return;
  const auto& found = result.put(PosteriorDecodingResult{std::move(posteriors), finder.finish()});
  result.set_path(found.decoded.segments);
}

void PosteriorDecoding::run_together(const PiecesContext& context, std::span<PieceResult> results) const {
  std::vector<std::unique_ptr<PosteriorPathFinder>> finders;
  finders.reserve(results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    finders.push_back(std::make_unique<PosteriorPathFinder>(context.engine.model(), gamma_, thresholds_));
  const std::vector<PosteriorSelection> selections(results.size(), selection({}, 1));
  const IndexedPosteriorSink find = [&](std::size_t i, const PosteriorBlock& block) {
    finders[i]->add(block);
    auto& found = results[i].put(PosteriorDecodingResult{{}, finders[i]->finish()});
    results[i].set_path(found.decoded.segments);
    finders[i].reset();
  };
  std::vector<PosteriorResult> swept =
      posteriors_together(context.engine, context.pieces, selections, find, context.threads);
  for (std::size_t i = 0; i < results.size(); ++i) {
    results[i].feasible = swept[i].feasible;
    if (auto* const found = results[i].find<PosteriorDecodingResult>())
      found->posteriors = std::move(swept[i]);
  }
}

void PosteriorDecoding::record(const PieceRecord& piece, SequenceReport& report) const {
  const auto& found = piece.result.get<PosteriorDecodingResult>();
  accumulate(report.stats.expected_correct_bins, found.decoded.expected_correct_bins);
  accumulate(report.stats.expected_correct_boundaries, found.decoded.expected_correct_boundaries);
  report.add_totals(found.posteriors, 2, piece);
  // Posteriors for the outputs have a sweep of their own, which says the same.
  if (piece.result.find<PosteriorResult>() == nullptr) report.add_posteriors(found.posteriors, piece);
}

void PosteriorDecoding::record_infeasible(SequenceReport& report) const { report.add_no_log_partition(); }

}  // namespace semicrf
