// Probabilities of claims: against the enumeration of all segmentations, and over windows.
#include <cmath>
#include <functional>
#include <random>

#include "analyses/claims/claim_sweep.h"
#include "analyses/claims/message_sweep.h"
#include "core/chain_model.h"
#include "engine/options.h"
#include "support/catch.h"
#include "support/models/random_models.h"
#include "support/models/resolution.h"
#include "support/models/windowed.h"
#include "support/truth/all_paths.h"
#include "support/truth/claim_truth.h"
#include "support/truth/enumerate.h"

using namespace semicrf;
using namespace semicrf::testing;

namespace {

ClaimSweep sweep(const EngineOptions& options, const ModelCase& sample, std::span<const Claim> claims,
                 std::int64_t chunks, int threads = 2) {
  const auto forward = make_engine(options, sample.model);
  MemoryScoreSource source(sample.whole(), sample.model.num_labels);
  ReversedPiece mirror(options, *forward, source, {});
  return sweep_claims(*forward, source, {}, plan_in_windows(*forward, sample.length, chunks), mirror,
                      plan_in_windows(mirror.engine(), sample.length, chunks), claims, threads);
}

double tolerance_of(const EngineOptions& options) {
  if (options.backend == EngineOptions::Backend::kReference) return 1e-10;
  return options.precision == Precision::kFloat ? 1e-5 : 1e-9;
}

// Natural logarithms of the probabilities that a claim is true and that it is not. -inf where no segmentation
// says so.
ClaimResult logs_of(const Claim& claim, const std::vector<PathProbability>& scored) {
  ClaimResult logs{kNegativeInfinity, kNegativeInfinity};
  for (const PathProbability& one : scored) {
    double& side = holds(claim, one.path) ? logs.log_true : logs.log_false;
    side = log_add(side, one.probability);
  }
  const double all = log_add(logs.log_true, logs.log_false);
  return {logs.log_true - all, logs.log_false - all};
}

// Of either side of a claim, which is -inf exactly where nothing says so: however small it is, its digits are
// those of the engine, and of scores of its size.
bool equal_logs(double found, double expected, double tolerance) {
  if (std::isinf(expected) || std::isinf(found)) return found == expected;
  return std::fabs(found - expected) < tolerance * std::max(1.0, std::fabs(expected));
}

void check_against_enumeration(const ModelCase& sample) {
  INFO(sample.description);
  std::vector<PathProbability> scored;
  std::vector<Segment> path;
  extend_paths(sample, path, scored);
  const std::vector<PathProbability> paths = all_paths(sample);
  const std::vector<Claim> claims = all_claims(sample.length, sample.model.num_labels);
  const double resolution =
      paths.empty() ? 0 : resolution_of(sample, enumerate_segmentations(sample).best_path);
  for (const EngineOptions& options : engines_to_test()) {
    const ClaimSweep found = sweep(options, sample, claims, 0);
    REQUIRE(found.feasible == !paths.empty());
    if (!found.feasible) return;
    const double tolerance = tolerance_of(options) + resolution;
    for (std::size_t i = 0; i < claims.size(); ++i) {
      double yes = 0, no = 0;
      for (const PathProbability& one : paths) (holds(claims[i], one.path) ? yes : no) += one.probability;
      INFO("claim " << static_cast<int>(claims[i].kind) << ", label " << claims[i].label << ", ["
                    << claims[i].begin << ", " << claims[i].end << "), engine "
                    << static_cast<int>(options.backend) << static_cast<int>(options.precision));
      const ClaimResult& result = found.results[i];
      REQUIRE(std::fabs(std::exp(result.log_true) - yes) < tolerance);
      REQUIRE(std::fabs(std::exp(result.log_false) - no) < tolerance);
      const ClaimResult expected = logs_of(claims[i], scored);
      INFO("logarithms " << result.log_true << " and " << result.log_false << ", expected "
                         << expected.log_true << " and " << expected.log_false);
      CHECK(equal_logs(result.log_true, expected.log_true, tolerance));
      CHECK(equal_logs(result.log_false, expected.log_false, tolerance));
    }
  }
}

}  // namespace

TEST_CASE("claims equal the enumeration of all segmentations") {
  std::uint64_t seed = 900;
  for (const CaseKind kind : all_case_kinds())
    for (const CaseShape shape :
         {CaseShape{5, 3, 2}, {5, 1, 2}, {6, 2, 2}, {1, 2, 3}, {3, 7, 3}, {7, 2, 1}, {4, 2, 3}})
      check_against_enumeration(make_case(kind, shape, ++seed));
}

TEST_CASE("claims about long sequences are the reference's, in any windows") {
  std::uint64_t seed = 70;
  for (const CaseKind kind : all_case_kinds()) {
    if (kind == CaseKind::kInfeasible) continue;
    const ModelCase sample = make_case(kind, {3000, 9, 3}, ++seed);
    INFO(sample.description);
    std::mt19937_64 random(seed);
    std::vector<Claim> claims;
    for (int i = 0; i < 60; ++i) {
      const ClaimKind which = kClaimKinds[random() % std::size(kClaimKinds)];
      const auto begin = static_cast<std::int64_t>(random() % 2990);
      const std::int64_t longest = which == ClaimKind::kSegment ? 12 : i % 10 == 0 ? 200 : 6;
      const std::int64_t end =
          std::min<std::int64_t>(3000, begin + 1 + static_cast<std::int64_t>(random()) % longest);
      claims.push_back(
          {which, has_label(which) ? static_cast<int>(random() % 3) : -1, begin, std::max(end, begin + 1)});
    }
    // Sums of many scores of -1e9 are known to no more digits than this.
    const bool masked = kind == CaseKind::kMasks || kind == CaseKind::kMinimumDurationsMasked;
    const double resolution = masked ? 1e-4 : 0;
    const std::vector<EngineOptions> engines = engines_to_test();
    const ClaimSweep expected = sweep(engines.front(), sample, claims, 0);
    REQUIRE(expected.feasible);
    for (std::size_t e = 1; e < engines.size(); ++e)
      for (const std::int64_t chunks : {0, 1, 3}) {
        const ClaimSweep found = sweep(engines[e], sample, claims, chunks, 1 + static_cast<int>(chunks));
        REQUIRE(found.feasible);
        for (std::size_t i = 0; i < claims.size(); ++i) {
          INFO("claim " << static_cast<int>(claims[i].kind) << ", label " << claims[i].label << ", ["
                        << claims[i].begin << ", " << claims[i].end << "), chunks " << chunks
                        << ", precision " << e);
          CHECK(std::fabs(std::exp(found.results[i].log_true) - std::exp(expected.results[i].log_true)) <
                2 * tolerance_of(engines[e]) + resolution);
          const double logs = (masked ? 1e-3 : 0) + 20 * tolerance_of(engines[e]);
          CHECK(equal_logs(found.results[i].log_true, expected.results[i].log_true, logs));
          CHECK(equal_logs(found.results[i].log_false, expected.results[i].log_false, logs));
        }
      }
  }
}
