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
                         std::size_t budget) {
  const WindowNeeds needs = posterior_needs(engine, source, selection);
  constexpr int kTries = 8;
  for (int tries = 1;; ++tries, budget *= 2) {
    try {
      return plan_windows(source.length(), engine.grid(source.length()), needs, budget);
    } catch (const MemoryError&) {
      if (tries == kTries) throw;
    }
  }
}

void make_entropy_certain(const EngineOptions& options, const ChainModel& model, ScoreSource& source,
                          const PosteriorSelection& selection, std::size_t budget, PosteriorResult& result) {
  PosteriorSums& sums = *result.sums;
  if (options.precision == Precision::kDouble || is_certain(sums.entropy, sums.entropy_uncertainty)) return;
  PosteriorSelection only_sums;
  only_sums.sums = true;
  only_sums.scored = selection.scored;
  only_sums.threads = selection.threads;
  only_sums.roles = selection.roles;
  const std::unique_ptr<Engine> engine =
      make_engine(options_in_double(options, selection.threads, source.length()), model);
  const WindowPlan plan = plan_at_least(*engine, source, only_sums, budget);
  const PosteriorResult again =
      sweep_posteriors(*engine, source, plan, only_sums, [](const PosteriorBlock&) {});
  sums.entropy = again.sums->entropy;
  sums.entropy_uncertainty = again.sums->entropy_uncertainty;
}

}  // namespace semicrf
