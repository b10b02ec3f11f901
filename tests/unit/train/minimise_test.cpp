// L-BFGS, through minimise().
#include <cmath>
#include <limits>
#include <new>
#include <span>
#include <vector>

#include "core/error.h"
#include "support/catch.h"
#include "train/fit/lbfgs_fit.h"

namespace semicrf {
namespace {

// Rosenbrock's valley in pairs of coordinates: 0 at (1, 1, ...), its only minimum.
double valley(std::span<const double> x, std::span<double> gradient) {
  double value = 0;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    const double across = x[i + 1] - x[i] * x[i], along = 1 - x[i];
    value += 100 * across * across + along * along;
    gradient[i] = -400 * across * x[i] - 2 * along;
    gradient[i + 1] = 200 * across;
  }
  return value;
}

}  // namespace

TEST_CASE("L-BFGS finds the bottom of a bent valley", "[minimise]") {
  const std::vector<double> start(20, -1.2);
  std::vector<double> last = start, evaluated;
  double before = std::numeric_limits<double>::infinity();
  int evaluations = 0, iterations = 0;
  const auto evaluate = [&](std::span<const double> x, std::span<double> gradient) {
    ++evaluations;
    evaluated.assign(x.begin(), x.end());
    return valley(x, gradient);
  };
  const auto iteration = [&](std::span<const double> x, double value, double gradient_norm) {
    ++iterations;
    last.assign(x.begin(), x.end());
    CHECK(last == evaluated);
    CHECK(value <= before);
    before = value;
    std::vector<double> gradient(x.size());
    CHECK(valley(x, gradient) == value);
    double squares = 0;
    for (const double g : gradient) squares += g * g;
    CHECK(gradient_norm == Approx(std::sqrt(squares)));
    return iterations == 500;
  };
  // Where rounding is all that is left, the last line search may find no step.
  CHECK(minimise(start, {evaluate, iteration}) != MinimiseEnd::kAsked);
  for (const double x : last) CHECK(x == Approx(1).margin(1e-7));
  CHECK(evaluations < 200);
}

TEST_CASE("L-BFGS ends when it is asked to, and where the gradient is zero", "[minimise]") {
  int iterations = 0;
  const auto third = [&](std::span<const double>, double, double) { return ++iterations == 3; };
  CHECK(minimise(std::vector<double>(4, -1.2), {valley, third}) == MinimiseEnd::kAsked);
  CHECK(iterations == 3);
  CHECK(minimise(std::vector<double>(4, 1.0), {valley, third}) == MinimiseEnd::kFlat);
  CHECK(iterations == 3);
}

TEST_CASE("L-BFGS tells of no iteration where no step is better", "[minimise]") {
  const auto wrong = [](std::span<const double> x, std::span<double> gradient) {
    const double value = valley(x, gradient);
    for (double& g : gradient) g = -g;
    return value;
  };
  const auto never = [](std::span<const double>, double, double) -> bool {
    throw std::logic_error("called");
  };
  CHECK(minimise(std::vector<double>(4, -1.2), {wrong, never}) == MinimiseEnd::kNoStep);
}

TEST_CASE("errors pass through L-BFGS", "[minimise]") {
  int evaluations = 0;
  const auto stop = [](std::span<const double>, double, double) { return false; };
  const auto fails = [&](std::span<const double> x, std::span<double> gradient) {
    if (++evaluations == 4) throw InputError({"file", "place", "problem", "advice"});
    return valley(x, gradient);
  };
  const std::vector<double> start(4, -1.2);
  CHECK_THROWS_AS(minimise(start, {fails, stop}), InputError);
  const auto no_memory = [](std::span<const double>, double, double) -> bool { throw std::bad_alloc(); };
  CHECK_THROWS_AS(minimise(start, {valley, no_memory}), std::bad_alloc);
}

}  // namespace semicrf
