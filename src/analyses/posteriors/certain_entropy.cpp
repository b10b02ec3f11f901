#include "analyses/posteriors/certain_entropy.h"

#include <memory>

#include "core/error.h"
#include "core/text/text.h"

namespace semicrf {

bool is_certain(double entropy, double uncertainty) {
  constexpr double kNegligible = 1e-5;  // nats
  return uncertainty <= kNegligible || uncertainty <= kCertainShare * entropy;
}

Warning uncertain_entropy_warning(const std::string& what, std::int64_t pieces, double uncertainty) {
  return {"uncertain-entropy", what + " of " + plural(pieces, "piece") + " may be wrong by " +
                                   formatted("%.3g", uncertainty) +
                                   " nats, because the scores are too large for the digits of posteriors"};
}

EngineOptions options_in_double(EngineOptions options, int threads, std::int64_t positions) {
  constexpr std::int64_t kWorthADevice = 1 << 20;  // positions
  options.precision = Precision::kDouble;
  options.threads = threads;
  options.spread_windows = false;
  if (options.backend == EngineOptions::Backend::kCuda && positions < kWorthADevice)
    options.backend = EngineOptions::Backend::kCpu;
  return options;
}

WindowPlan plan_at_least(const Engine& engine, const ScoreSource& source, const PosteriorSelection& selection,
                         std::size_t budget, EdgeLengths edges) {
  const WindowNeeds needs = posterior_needs(engine, source, selection);
  constexpr int kTries = 8;
  for (int tries = 1;; ++tries, budget *= 2) {
    try {
      return plan_windows(source.length(), engine.grid(source.length()), needs, budget, edges);
    } catch (const MemoryError&) {
      if (tries == kTries) throw;
    }
  }
}

namespace {

// The windows at the edges of a piece for an engine in double precision.
struct CertainEdges {
  EdgeWindows windows;
  std::unique_ptr<Engine> left, right;
};

// Null: the piece is too short for them.
std::unique_ptr<CertainEdges> certain_edges(const EdgeWindows& edges, EngineOptions options,
                                            const Engine& inner, std::int64_t length) {
  const EdgeLengths lengths = edge_lengths(inner, edges.roles->cut(), length);
  if (!lengths.any()) return nullptr;
  options.backend = EngineOptions::Backend::kCpu;
  auto certain = std::make_unique<CertainEdges>();
  certain->windows = edges;
  const auto open = [&](EdgeWindow& window, std::int64_t positions, std::unique_ptr<Engine>& engine) {
    window.positions = positions;
    if (positions == 0) return;
    engine = make_engine(options, window.roles->chain());
    window.engine = engine.get();
  };
  open(certain->windows.left, lengths.left, certain->left);
  open(certain->windows.right, lengths.right, certain->right);
  return certain;
}

}  // namespace

void make_entropy_certain(const EngineOptions& options, const ChainModel& model, ScoreSource& source,
                          const PosteriorSelection& selection, std::size_t budget, PosteriorResult& result) {
  PosteriorSums& sums = *result.sums;
  if (options.precision == Precision::kDouble || is_certain(sums.entropy, sums.entropy_uncertainty)) return;
  PosteriorSelection only_sums;
  only_sums.sums = true;
  only_sums.scored = selection.scored;
  only_sums.threads = selection.threads;
  only_sums.roles = selection.roles;
  const EngineOptions in_double = options_in_double(options, selection.threads, source.length());
  const std::unique_ptr<Engine> engine = make_engine(in_double, model);
  std::unique_ptr<CertainEdges> edges;
  EdgeLengths lengths;
  if (selection.edges != nullptr) {
    edges = certain_edges(*selection.edges, in_double, *engine, source.length());
    if (edges == nullptr) return;
    only_sums.edges = &edges->windows;
    lengths = {edges->windows.left.positions, edges->windows.right.positions};
  }
  const WindowPlan plan = plan_at_least(*engine, source, only_sums, budget, lengths);
  const PosteriorResult again =
      sweep_posteriors(*engine, source, plan, only_sums, [](const PosteriorBlock&) {});
  sums.entropy = again.sums->entropy;
  sums.entropy_uncertainty = again.sums->entropy_uncertainty;
}

}  // namespace semicrf
