#include "model/durations/duration.h"

#include <cmath>
#include <string>
#include <utility>

#include "model/parameters.h"
#include "support/catch.h"

using namespace semicrf;

namespace {

constexpr int kK = 400;

// `values`: of the parameters, label by label.
DurationSpec spec_of(const char* kind, std::vector<std::vector<double>> values) {
  DurationSpec spec;
  spec.kind = find_duration_kind(kind);
  spec.values = std::move(values);
  return spec;
}

}  // namespace

TEST_CASE("duration tables follow their formulas") {
  const DurationSpec geometric = spec_of("geometric", {{0.3}, {1e-6}});
  const DurationSpec binomial = spec_of("negative_binomial", {{0.01, 0.3}, {35.5, 0.9}});
  const DurationSpec poisson = spec_of("poisson", {{0.5}, {120}});
  const auto geometric_table = duration_table(geometric, kK, 2);
  const auto binomial_table = duration_table(binomial, kK, 2);
  const auto poisson_table = duration_table(poisson, kK, 2);
  for (std::size_t c = 0; c < 2; ++c) {
    for (int k = 1; k <= kK; ++k) {
      const std::size_t i = static_cast<std::size_t>(k - 1) * 2 + c;
      const double p = geometric.values[c][0];
      REQUIRE(geometric_table[i] == Approx((k - 1) * std::log(1 - p) + std::log(p)).epsilon(1e-9));
      const double q = binomial.values[c][1];
      const double r = binomial.values[c][0];
      const double expected = std::lgamma(k + r - 1) - std::lgamma(r) - std::lgamma(k) + r * std::log(q) +
                              (k - 1) * std::log(1 - q);
      REQUIRE(binomial_table[i] == Approx(expected).epsilon(1e-11).margin(1e-11));
      const double lambda = poisson.values[c][0];
      REQUIRE(poisson_table[i] ==
              Approx(k * std::log(lambda) - std::lgamma(k + 1) - lambda).epsilon(1e-12).margin(1e-11));
    }
  }
  CHECK(duration_table(spec_of("uniform", {{}, {}}), 3, 2) == std::vector<double>(6, 0.0));
  CHECK_THROWS_AS(duration_table(spec_of("table", {{}, {}}), 3, 2), std::logic_error);
}

TEST_CASE("a negative binomial with r = 1 is geometric, and large parameters keep their digits") {
  const DurationSpec geometric = spec_of("geometric", {{0.01}});
  DurationSpec binomial = spec_of("negative_binomial", {{1, 0.01}});
  const auto a = duration_table(geometric, 5000, 1);
  const auto b = duration_table(binomial, 5000, 1);
  for (std::size_t i = 0; i < a.size(); ++i) REQUIRE(b[i] == Approx(a[i]).epsilon(1e-14));

  // r -> infinity with r (1-p) = 2 fixed: Poisson(2) of k-1.
  binomial.values = {{1e12, 1 - 2e-12}};
  const double mean = -1e12 * std::log1p(-2e-12);  // what is left of 2 after 1 - 2e-12 was rounded
  const auto limit = duration_table(binomial, 20, 1);
  for (int k = 1; k <= 20; ++k) {
    const double expected = (k - 1) * std::log(2.0) - std::lgamma(k) - mean;
    CHECK(limit[static_cast<std::size_t>(k - 1)] == Approx(expected).margin(2e-3));
  }

  // At its mode a Poisson distribution is about 1 / sqrt(2 pi lambda).
  const auto table = duration_table(spec_of("poisson", {{1e6}}), 1'000'000, 1);
  CHECK(table.back() == Approx(-0.5 * std::log(2 * 3.14159265358979323846 * 1e6) - 1 / 12e6).margin(1e-9));
}

TEST_CASE("tails become log scores") {
  DurationSpec spec = spec_of("geometric", {{0.2}, {1e-18}, {0.5}});
  CHECK(tail_scores(spec).empty());
  spec.tail = {0, 0, 0};
  CHECK(tail_scores(spec).empty());
  spec.tail = {0, 1 - 1e-18, 0.25};
  CHECK(tail_scores(spec) == std::vector<double>{kNegativeInfinity, std::log1p(-1e-18), std::log(0.25)});
}

TEST_CASE("duration summaries count the tail") {
  Parameters parameters;
  parameters.labels = {{"A", {}}, {"B", {}}, {"C", {}}};
  const auto column = duration_table(spec_of("geometric", {{0.05}}), 10, 1);
  std::vector<double> bias(30, kNegativeInfinity);
  for (std::size_t k = 0; k < 10; ++k) bias[k * 3] = column[k];
  bias[3 * 3 + 1] = -2;  // label B: durations 4 and 6, half each
  bias[5 * 3 + 1] = -2;
  parameters.duration.tail = {0.95, 0, 0};
  parameters.chain.num_labels = 3;
  parameters.chain.max_duration = 10;
  parameters.chain.duration_bias = bias;
  parameters.chain.log_tail = tail_scores(parameters.duration);

  const DurationSummary a = summarize_durations(parameters.chain, 0);
  CHECK(a.mean == Approx(20));
  CHECK(a.most_likely == 1);
  CHECK(a.tail_mass == Approx(std::pow(0.95, 10)));
  const DurationSummary b = summarize_durations(parameters.chain, 1);
  CHECK(b.mean == Approx(5));
  CHECK(b.most_likely == 4);
  CHECK(b.shortest == 4);
  CHECK(b.longest == 6);
  CHECK(b.tail_mass == 0);
  const DurationSummary c = summarize_durations(parameters.chain, 2);
  CHECK(std::isnan(c.mean));
  CHECK(c.most_likely == 0);
}

TEST_CASE("duration kinds have names, and derivatives that follow their formulas") {
  CHECK(find_duration_kind("Table") == nullptr);
  constexpr std::size_t kRows = 12;
  std::vector<double> by_scores(kRows);
  for (std::size_t i = 0; i < kRows; ++i) by_scores[i] = std::sin(static_cast<double>(i));
  for (const DurationKind* kind : duration_kinds()) {
    INFO(std::string(kind->name()));
    CHECK(find_duration_kind(kind->name()) == kind);
    const std::vector<std::int64_t> durations{3, 9, 4, 4, 17};
    const std::vector<double> values = kind->estimate(durations);
    REQUIRE(values.size() == kind->parameters().size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      // The coordinate a little lower and higher.
      const auto total = [&](double step) {
        std::vector<double> moved = values;
        const double odds = values[i] / (1 - values[i]) * std::exp(step);
        moved[i] = kind->parameters()[i].is_probability ? odds / (1 + odds) : values[i] * std::exp(step);
        std::vector<double> scores(kRows);
        kind->fill(moved, {scores.data(), 1, kRows});
        double sum = 0;
        for (std::size_t k = 0; k < kRows; ++k) sum += by_scores[k] * scores[k];
        return sum;
      };
      CHECK(kind->derivative(values, i, {by_scores.data(), 1, kRows}) ==
            Approx((total(1e-5) - total(-1e-5)) / 2e-5).epsilon(1e-6));
    }
  }
}
