#include "train/fit/adamw_fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "core/counts.h"

namespace semicrf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kFirstDecay = 0.9;     // beta1
constexpr double kSecondDecay = 0.999;  // beta2
constexpr double kEpsilon = 1e-12;      // gradients are means over positions: small
constexpr double kLastShare = 0.05;     // share of the learning rate in the last iteration

// Windows in the order of iteration `iteration`: the same on every machine.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, int iteration) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::seed_seq sequence{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                         static_cast<std::uint32_t>(iteration)};
  std::mt19937_64 random(sequence);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random() % i]);
  return order;
}

class Fit {
 public:
  Fit(const TrainingProblem& problem, const AdamWOptions& options, const std::vector<double>& anchor,
      FitState& state)
      : problem_(problem), options_(options), anchor_(anchor), state_(state), gradient_(state.x.size()) {
    state.first_moment.resize(state.x.size());
    state.second_moment.resize(state.x.size());
  }

  void step(std::span<const std::size_t> batch, double rate) {
    double nll = 0;
    const double loss = problem_.evaluate_pieces(batch, state_.x, gradient_, nll);
    clip();
    double positions = 0;
    for (const std::size_t i : batch) positions += static_cast<double>(problem_.piece_length(i));
    positions_ += positions;
    loss_ += loss * positions;
    nll_ += nll * positions;
    state_.steps += 1;
    const double first_bias = 1 - std::pow(kFirstDecay, state_.steps);
    const double second_bias = 1 - std::pow(kSecondDecay, state_.steps);
    for (std::size_t i = 0; i < gradient_.size(); ++i) {
      const double g = gradient_[i];
      double& m = state_.first_moment[i];
      double& v = state_.second_moment[i];
      m = kFirstDecay * m + (1 - kFirstDecay) * g;
      v = kSecondDecay * v + (1 - kSecondDecay) * g * g;
      const double move = m / first_bias / (std::sqrt(v / second_bias) + kEpsilon) +
                          options_.weight_decay * (state_.x[i] - anchor_[i]);
      state_.x[i] -= rate * move;
      moved_ += rate * move * rate * move;
    }
  }

  // Means over the steps of the iteration; forgets them.
  IterationReport report() {
    IterationReport report;
    report.iteration = state_.iteration;
    report.loss = loss_ / positions_;
    report.nll = nll_ / positions_;
    report.gradient_norm = gradient_norm_;
    report.step = std::sqrt(moved_);
    const auto now = Clock::now();
    report.positions_per_second =
        positions_ / std::max(1e-9, std::chrono::duration<double>(now - last_).count());
    last_ = now;
    loss_ = nll_ = moved_ = positions_ = 0;
    return report;
  }

 private:
  // Gradients that are longer than asked for keep their direction.
  void clip() {
    double squares = 0;
    for (const double g : gradient_) squares += g * g;
    gradient_norm_ = std::sqrt(squares);
    if (options_.clip_norm <= 0 || gradient_norm_ <= options_.clip_norm) return;
    for (double& g : gradient_) g *= options_.clip_norm / gradient_norm_;
  }

  const TrainingProblem& problem_;
  const AdamWOptions& options_;
  const std::vector<double>& anchor_;
  FitState& state_;
  std::vector<double> gradient_;
  Clock::time_point last_ = Clock::now();
  double loss_ = 0, nll_ = 0, moved_ = 0, positions_ = 0, gradient_norm_ = 0;
};

}  // namespace

double learning_rate(const AdamWOptions& options, double passes, int max_passes, std::int64_t steps) {
  double share = 1;
  const double done = std::min(1.0, passes / std::max(1, max_passes));
  if (options.schedule == RateSchedule::kLinear) share = 1 - (1 - kLastShare) * done;
  if (options.schedule == RateSchedule::kCosine)
    share = kLastShare + (1 - kLastShare) * (1 + std::cos(std::numbers::pi * done)) / 2;
  if (steps < options.warm_up) share *= ratio(steps + 1, options.warm_up);
  return options.learning_rate * share;
}

void fit_adamw(const TrainingProblem& problem, const StopRule& rule, const AdamWOptions& options,
               const std::vector<double>& anchor, const IterationSink& show, const CheckpointSink& save,
               FitState& state) {
  if (state.x.empty()) state.finish(true, "there is no free parameter");
  Fit fit(problem, options, anchor, state);
  while (!state.finished) {
    const std::vector<std::size_t> order = shuffled(problem.num_pieces(), options.seed, state.iteration);
    const std::size_t batch = std::max(1, options.batch);
    for (std::size_t i = 0; i < order.size(); i += batch) {
      double passes = state.iteration;
      if (options.schedule == RateSchedule::kCosine) passes += ratio(i, order.size());
      const double rate = learning_rate(options, passes, rule.max_iterations, state.steps);
      fit.step(std::span(order).subspan(i, std::min(batch, order.size() - i)), rate);
    }
    state.iteration += 1;
    IterationReport report = fit.report();
    state.nll = report.nll;
    state.losses.push_back(report.loss);
    state.validation = report.validation = problem.validate(state.x);
    finish_iteration(rule, state);
    if (show) show(report);
    if (save) save(state);
  }
}

}  // namespace semicrf
