// Models that forget slowly: hardly any run is warmed up enough, so that the truth comes to most of them from
// runs further to the left, round by round.
#include <vector>

#include "cuda/engine/cuda_engine_impl.h"
#include "parity/cuda/cuda_checks.h"
#include "parity/cuda/device_models.h"
#include "parity/cuda/make_spread.h"
#include "parity/cuda/window_cases.h"
#include "parity/engine_parity.h"
#include "support/catch.h"
#ifdef SEMICRF_EMULATED_DEVICE
#include "device_counters.h"
#endif

using namespace semicrf;
using namespace semicrf::testing;

namespace {

// An engine that repairs runs together as long as the truth has at most `reach` positions to go.
std::unique_ptr<Engine> make_reaching(ChainModel model, Precision precision, std::int64_t reach) {
  constexpr std::size_t kShared = std::size_t{227} << 10, kMemory = std::size_t{1} << 40;
  const cuda::WorkRules rules{cuda::kMultiprocessors, reach};
  if (precision == Precision::kFloat)
    return std::make_unique<cuda::CudaEngine<float>>(std::move(model), 0, "test", kShared, kMemory, 1, rules);
  return std::make_unique<cuda::CudaEngine<double>>(std::move(model), 0, "test", kShared, kMemory, 1, rules);
}

}  // namespace

TEST_CASE("runs that are repaired side by side equal the reference, whole and in windows") {
  const ModelCase sample = slow_case(2 * 8192 + 30, -0.2, 881);
  const auto engine = make_cuda(sample.model, Precision::kFloat);
  REQUIRE(window_edges(*engine, sample.length, 1).size() > 2);
  for (const ChunkReport& report : posterior_case(*engine, sample, {0, sample.length}).chunks)
    CHECK(report.repaired);
  check(sample);
}

// The first rounds repair all runs that fail, the later ones one after the other.
TEST_CASE("runs that are repaired side by side and then one by one equal the reference") {
  const ModelCase sample = slow_case(8192 + 1000, -0.2, 882);
  const auto make = [](const ChainModel& model, Precision precision) {
    return make_reaching(model, precision, 300);
  };
  expect_none(check_case(make, sample), sample.description);
}

// Only the sequence's end tells the phases apart: runs agree with what stands beside them until the truth
// comes to it, one run a round, and so does a window with its neighbour's first states.
TEST_CASE("what a window ends with may change after it agreed") {
  const ModelCase sample = make_case(CaseKind::kPeriodicEndScores, {8192 + 700, 3, 3}, 885);
  const auto engine = make_cuda(sample.model, Precision::kFloat);
  CHECK(posterior_case(*engine, sample, window_edges(*engine, sample.length, 1)).redone_windows == 1);
  check(sample);
}

TEST_CASE("windows over several devices have the digits of one where messages are forgotten slowly") {
  expect_none(check_spread(make_cuda, make_spread, slow_case(2 * 8192 + 700, -0.1, 883)));
}

#ifdef SEMICRF_EMULATED_DEVICE
// One run after the other would take some launches per run.
TEST_CASE("where messages are forgotten slowly, rounds of repairs are fewer than runs") {
  const ModelCase sample = slow_case(20'011, -0.05, 884);
  const auto engine = make_cuda(sample.model, Precision::kFloat);
  const auto launches = [&] {
    const std::size_t before = emulation::launches();
    engine->forward(sample.whole(), {0, sample.length}, nullptr, {});
    return emulation::launches() - before;
  };
  CHECK(launches() < 150);
}
#endif
