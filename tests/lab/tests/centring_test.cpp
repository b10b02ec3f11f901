// The paper's worked example to the digit, and what centrings change.
#include "lab/centring/centring.h"

#include <cmath>
#include <cstdio>
#include <string>

#include "support/catch.h"
#include "support/seeds.h"

using namespace semicrf;
using namespace semicrf::lab;

namespace {
std::string two_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.2f", value);
  return text;
}
}  // namespace

TEST_CASE("centring: Table 1 to the digit") {
  CHECK(two_digits(kToyLabels[0].baseline()) == "+3.25");
  CHECK(two_digits(kToyLabels[1].baseline()) == "+0.27");
  CHECK(two_digits(kToyLabels[2].baseline()) == "-0.12");
  CHECK(std::lround(-100 * kToyLabels[0].baseline()) == -325);
  CHECK(std::lround(-100 * kToyLabels[1].baseline()) == -27);
  CHECK(std::lround(-100 * kToyLabels[2].baseline()) == 12);
  CHECK(two_digits(kToyLabels[0].contrast()) == "+0.75");
  CHECK(two_digits(kToyLabels[1].contrast()) == "+4.73");
  CHECK(two_digits(kToyLabels[2].contrast()) == "+8.12");
}

TEST_CASE("centring: position-max changes log Z by the sum of maxima, mean changes the distribution") {
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const std::uint64_t seed = testing::test_seed(i);
    INFO("seed " << seed);
    Sequence sequence = sequence_of(draw({.length = 300}, seed).emissions, 3);
    const auto engine = product_engine("reference", rare_labels_model());
    const Marginals none = marginals(*engine, sequence);
    double maxima = 0;
    for (std::size_t t = 0; t < 300; ++t)
      maxima += std::max({sequence.f64[3 * t], sequence.f64[3 * t + 1], sequence.f64[3 * t + 2]});
    sequence.subtract_position_max = true;
    const Marginals moved = marginals(*engine, sequence);
    CHECK(std::fabs(none.log_partition - maxima - moved.log_partition) <=
          1e-11 * std::fabs(none.log_partition));
    double change = 0;
    for (std::size_t j = 0; j < none.labels.size(); ++j)
      change = std::max(change, std::fabs(none.labels[j] - moved.labels[j]));
    CHECK(change <= 1e-10);
    sequence.subtract_position_max = false;
    sequence.baseline = means_of(sequence.f64, 3);
    const Marginals centred = marginals(*engine, sequence);
    for (std::size_t j = 0; j < none.labels.size(); ++j)
      change = std::max(change, std::fabs(none.labels[j] - centred.labels[j]));
    CHECK(change > 1e-3);
  }
}

// App. D says that the baseline "shifts all labels equally" and so cancels. It is one number per label.
TEST_CASE("centring: a baseline that is not the same for all labels does not cancel for K = 1 either") {
  ChainModel model;
  model.num_labels = 2;
  model.max_duration = 1;
  model.transition = {0, -1, -1, 0};
  model.duration_bias = {0, 0};
  const auto engine = product_engine("reference", model);
  Sequence sequence = sequence_of(std::vector<double>{1, 0, 1, 0, 0, 0.5}, 2);
  const Marginals none = marginals(*engine, sequence);
  sequence.baseline = {2.0 / 3, 2.0 / 3};
  CHECK(std::fabs(marginals(*engine, sequence).labels[0] - none.labels[0]) <= 1e-14);
  sequence.baseline = means_of(sequence.f64, 2);
  CHECK(std::fabs(marginals(*engine, sequence).labels[0] - none.labels[0]) > 0.05);
}
