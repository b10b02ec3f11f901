// A cut piece computed with the roles of its labels everywhere, or in windows of their own at its edges.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "analyses/analyse.h"
#include "analyses/posteriors/posteriors.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "engine/options.h"
#include "model/scores/edge_roles.h"
#include "support/models/random_models.h"
#include "support/models/windowed.h"
#include "windows/edge_windows.h"

namespace semicrf::testing {

struct CutPieceResult {
  PieceResult result;
  std::vector<double> boundary, labels, starts, ends, path_label;
};

// The best path, the path by posteriors, and all posteriors.
inline AnalysisList cut_piece_analyses() {
  AnalysisList analyses;
  analyses.add<ViterbiDecoding>();
  PosteriorRequest request;
  request.labels = request.starts = request.ends = request.along_path = request.path_edges = true;
  request.sums = request.counts = true;
  analyses.add<Posteriors>(request);
  return analyses;
}

inline CutPieceResult analyse_cut_piece(Engine& engine, ScoreSource& source, const PieceChain& chain,
                                        const AnalysisList& analyses, const WindowPlan& windows,
                                        std::int64_t length) {
  PiecePlan plan;
  plan.windows.assign(analyses.size(), windows);
  CutPieceResult found;
  const auto append = [](std::span<const double> from, std::vector<double>& to) {
    to.insert(to.end(), from.begin(), from.end());
  };
  const BlockSink sink = [&](const PieceResult&, const PosteriorBlock& block) {
    append(block.boundary, found.boundary);
    append(block.labels, found.labels);
    append(block.starts, found.starts);
    append(block.ends, found.ends);
    append(block.path_label, found.path_label);
  };
  found.result = analyse_piece(engine, source, chain, analyses, plan, {"s", {}, length}, sink, {});
  return found;
}

inline CutPieceResult with_roles_everywhere(const EngineOptions& options, const ModelCase& sample,
                                            CutEdges cut) {
  const EdgeRoles roles(sample.model, cut);
  const auto engine = make_engine(options, roles.chain());
  EdgeSource source(std::make_unique<MemoryScoreSource>(sample.whole(), sample.model.num_labels), roles);
  return analyse_cut_piece(*engine, source, {&roles}, cut_piece_analyses(),
                           plan_in_windows(*engine, sample.length, 0), sample.length);
}

// `chunks`: of the windows between those at the edges; 0: one window. `joined`: paths of theirs are followed
// ahead.
inline CutPieceResult with_edge_windows(const EngineOptions& options, const ModelCase& sample, CutEdges cut,
                                        EdgeLengths lengths, std::int64_t chunks = 0, bool joined = false) {
  const auto scores = [&] {
    return std::make_unique<MemoryScoreSource>(sample.whole(), sample.model.num_labels);
  };
  EngineOptions host = options;
  if (host.backend == EngineOptions::Backend::kCuda) host.backend = EngineOptions::Backend::kCpu;
  const auto engine = make_engine(options, sample.model);
  const EdgeRoles left({sample.model}, {true, false}), right({sample.model}, {false, true}),
      both(sample.model, cut);
  std::vector<std::unique_ptr<Engine>> engines;
  EdgeWindows edges;
  edges.roles = &both;
  const auto fill = [&](EdgeWindow& edge, std::int64_t positions, const EdgeRoles& roles) {
    if (positions == 0) return;
    engines.push_back(make_engine(host, roles.chain()));
    edge.positions = positions;
    edge.roles = &roles;
    edge.engine = engines.back().get();
    edge.scores = std::make_unique<EdgeSource>(scores(), roles);
    edge.plain = scores();
  };
  fill(edges.left, lengths.left, left);
  fill(edges.right, lengths.right, right);
  WindowPlan windows;
  windows.length = sample.length;
  windows.edges = lengths;
  const ChunkGrid grid = engine->grid(sample.length);
  windows.window = chunks == 0 ? windows.inner_length() : chunks * grid.chunk;
  windows.left_halo = windows.right_halo = grid.warmup;
  windows.joined = joined;
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  return analyse_cut_piece(*engine, source, {nullptr, &edges}, cut_piece_analyses(), windows, sample.length);
}

}  // namespace semicrf::testing
