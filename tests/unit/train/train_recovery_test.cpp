// Parameters come back from data that were simulated with known ones; recovery.h says what can come back.
#include <algorithm>
#include <cmath>
#include <cstddef>

#include "support/catch.h"
#include "unit/train/recovery.h"

namespace semicrf {
namespace {

void check_recovery(const test::RecoveryCase& sample, double largest_error) {
  INFO("seed " << sample.seed);
  EngineOptions engine;
  engine.precision = Precision::kDouble;
  engine.threads = 2;
  const test::Recovery recovery = test::recover(sample, engine);
  CHECK(recovery.nll_of_fit <= recovery.nll_of_truth);
  // Twice the difference is about chi-squared with as many degrees of freedom as there are free directions.
  const double degrees = recovery.free_dimensions;
  const double gain = 2 * (recovery.nll_of_truth - recovery.nll_of_fit) * static_cast<double>(sample.length);
  CHECK(gain < degrees + 5 * std::sqrt(2 * degrees));
  const double within = test::simultaneous_quantile(0.999, recovery.truth.size());
  double most = 0, worst_error = 0;
  for (std::size_t i = 0; i < recovery.truth.size(); ++i) {
    if (recovery.seen[i] < 10) continue;  // hardly a normal distribution
    INFO("number " << i << ": " << recovery.found[i] << " for " << recovery.truth[i]);
    const double errors = std::fabs(recovery.found[i] - recovery.truth[i]) / recovery.error[i];
    CHECK(errors < within);
    most = std::max(most, errors);
    worst_error = std::max(worst_error, recovery.error[i]);
  }
  CHECK(worst_error < largest_error);  // intervals that say something
  WARN(sample.length << " positions, " << recovery.truth.size() << " numbers, " << recovery.iterations
                     << " iterations: all within " << most << " standard errors (" << within
                     << " allowed), the largest of which is " << worst_error << "; NLL of fit and truth "
                     << recovery.nll_of_fit << " " << recovery.nll_of_truth
                     << ", twice the difference in all " << gain << " for " << degrees << " directions");
}

}  // namespace

TEST_CASE("known parameters are recovered from simulated data", "[train]") {
  test::RecoveryCase sample;
  sample.labels = 3;
  sample.max_duration = 8;
  sample.length = 20000;
  check_recovery(sample, 0.5);
}

// Hidden: `test_train "[recovery]"` runs it.
TEST_CASE("known parameters are recovered from a million positions", "[.][recovery]") {
  test::RecoveryCase sample;
  sample.length = 1000000;
  check_recovery(sample, 0.5);
}

}  // namespace semicrf
