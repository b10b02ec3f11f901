// A cut piece computed with the roles of its labels everywhere, or in windows of their own at its edges.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analyses/analyse.h"
#include "analyses/best_paths/best_paths.h"
#include "analyses/claims/claim_sweep.h"
#include "analyses/draws/segment_sampler.h"
#include "analyses/draws/segment_shares.h"
#include "analyses/intervals/boundary_intervals.h"
#include "analyses/posteriors/posteriors.h"
#include "analyses/viterbi/viterbi_decoder.h"
#include "core/error.h"
#include "engine/options.h"
#include "model/scores/edge_roles.h"
#include "support/models/random_models.h"
#include "support/models/windowed.h"
#include "support/truth/claim_truth.h"
#include "windows/edge_windows.h"

namespace semicrf::testing {

struct CutPieceResult {
  PieceResult result;
  std::vector<double> boundary, labels, starts, ends, path_label;
};

inline constexpr std::size_t kPlanBudget = std::size_t{1} << 28;  // bytes

// Claims of every kind whose intervals lie at the edges, around the boundaries `near`, and in the middle.
inline std::vector<Claim> claims_near(const std::vector<std::int64_t>& near, std::int64_t length,
                                      int num_labels) {
  std::vector<Claim> claims;
  std::vector<std::int64_t> places{0, length / 2, length - 1};
  places.insert(places.end(), near.begin(), near.end());
  for (const std::int64_t place : places)
    for (const auto& [before, after] : {std::pair{0, 1}, {1, 2}, {0, 40}, {35, 3}}) {
      const std::int64_t begin = std::max<std::int64_t>(0, place - before);
      const std::int64_t end = std::min(length, place + after);
      if (begin >= end) continue;
      for (const ClaimKind kind : kClaimKinds)
        claims.push_back({kind, has_label(kind) ? static_cast<int>(begin % num_labels) : -1, begin, end});
    }
  return claims;
}

struct CutPieceQuestions {
  std::vector<Claim> claims;
  std::vector<Constraint> constraints;
};

class GivenConstraints : public ConstraintSet {
 public:
  explicit GivenConstraints(std::vector<Constraint> constraints) : constraints_(std::move(constraints)) {}

  std::vector<Constraint> of(const BinLocation&, std::int64_t) override { return constraints_; }
  [[noreturn]] void refuse(const Constraint&, const BinLocation&) const override {
    throw InputError({"", "", "constraints that cannot be met", ""});
  }

 private:
  std::vector<Constraint> constraints_;
};

// Every analysis.
inline AnalysisList cut_piece_analyses(const EngineOptions& options, const CutPieceQuestions& asked) {
  AnalysisList analyses;
  analyses.engine = options;
  if (!asked.constraints.empty()) {
    analyses.constraints = std::make_shared<GivenConstraints>(asked.constraints);
    analyses.constraint_probability = true;
  }
  analyses.add<ViterbiDecoding>();
  analyses.add<KBest>(12, 0);
  analyses.add<ExactSegments>();
  PosteriorRequest request;
  request.labels = request.starts = request.ends = request.along_path = request.path_edges = true;
  request.path_next = request.sums = request.counts = true;
  analyses.add<Posteriors>(request);
  analyses.add<CredibleIntervals>(0.83);  // not a probability of periodic models
  analyses.add<Samples>(5, 1);
  analyses.add<ClaimProbabilities>([claims = asked.claims](const PieceIdentity&) {
    PieceClaims all{claims, {}};
    for (std::size_t i = 0; i < claims.size(); ++i) all.numbers.push_back(i);
    return all;
  });
  return analyses;
}

inline CutPieceResult analyse_cut_piece(Engine& engine, ScoreSource& source, const PieceChain& chain,
                                        const AnalysisList& analyses, const WindowPlan& windows,
                                        std::int64_t length) {
  PiecePlan plan;
  plan.windows.assign(analyses.size() + 1, windows);  // one for constraints
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
                                            CutEdges cut, const CutPieceQuestions& asked) {
  const EdgeRoles roles(sample.model, cut);
  const auto engine = make_engine(options, roles.chain());
  EdgeSource source(std::make_unique<MemoryScoreSource>(sample.whole(), sample.model.num_labels), roles);
  WindowPlan plan = plan_in_windows(*engine, sample.length, 0);
  plan.budget = kPlanBudget;
  return analyse_cut_piece(*engine, source, {&roles}, cut_piece_analyses(options, asked), plan,
                           sample.length);
}

// `chunks`: of the windows between those at the edges; 0: one window. `joined`: paths of theirs are followed
// ahead.
inline CutPieceResult with_edge_windows(const EngineOptions& options, const ModelCase& sample, CutEdges cut,
                                        EdgeLengths lengths, const CutPieceQuestions& asked,
                                        std::int64_t chunks = 0, bool joined = false) {
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
  windows.budget = kPlanBudget;
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  return analyse_cut_piece(*engine, source, {nullptr, &edges}, cut_piece_analyses(options, asked), windows,
                           sample.length);
}

}  // namespace semicrf::testing
