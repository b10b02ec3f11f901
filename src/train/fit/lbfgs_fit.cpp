#include "train/fit/lbfgs_fit.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "train/fit/minimise.h"

namespace semicrf {
namespace {

using Clock = std::chrono::steady_clock;

class Round {
 public:
  Round(const TrainingProblem& problem, const StopRule& rule, const IterationSink& show,
        const CheckpointSink& save, FitState& state)
      : problem_(problem), rule_(rule), show_(show), save_(save), state_(state), last_(Clock::now()) {}

  MinimiseEnd run() {
    first_iteration_ = state_.iteration;
    const std::vector<double> start = state_.x;
    const auto evaluate = [this](std::span<const double> x, std::span<double> gradient) {
      ++evaluations_;
      return problem_.evaluate(x, gradient, nll_);
    };
    const auto iteration = [this](std::span<const double> x, double value, double gradient_norm) {
      return take(x, value, gradient_norm);
    };
    return minimise(start, {evaluate, iteration});
  }

  bool moved() const { return state_.iteration > first_iteration_; }

 private:
  // Returns whether the round is over.
  bool take(std::span<const double> x, double value, double gradient_norm) {
    double squares = 0;
    for (std::size_t i = 0; i < x.size(); ++i) squares += (x[i] - state_.x[i]) * (x[i] - state_.x[i]);
    state_.x.assign(x.begin(), x.end());
    state_.iteration += 1;
    state_.nll = nll_;
    state_.losses.push_back(value);
    state_.validation = problem_.validate(x);
    finish_iteration(rule_, state_);
    if (show_) {
      const auto now = Clock::now();
      const double seconds = std::chrono::duration<double>(now - last_).count();
      last_ = now;
      show_({state_.iteration, value, nll_, state_.validation, gradient_norm, std::sqrt(squares),
             static_cast<double>(problem_.positions()) * evaluations_ / std::max(seconds, 1e-9)});
      evaluations_ = 0;
    }
    if (save_ && !state_.finished) save_(state_);
    return state_.finished || state_.iteration % kRound == 0;
  }

  const TrainingProblem& problem_;
  const StopRule& rule_;
  const IterationSink& show_;
  const CheckpointSink& save_;
  FitState& state_;
  Clock::time_point last_;
  double nll_ = 0;  // NLL of the last evaluation
  int evaluations_ = 0;
  int first_iteration_ = 0;
};

}  // namespace

void fit_lbfgs(const TrainingProblem& problem, const StopRule& rule, const IterationSink& show,
               const CheckpointSink& save, FitState& state) {
  if (state.x.empty()) state.finish(true, "there is no free parameter");
  while (!state.finished) {
    Round round(problem, rule, show, save, state);
    const MinimiseEnd end = round.run();
    if (state.finished) break;
    if (end == MinimiseEnd::kFlat) {
      state.finish(true, "the gradient is zero");
    } else if (end == MinimiseEnd::kNoStep && !round.moved()) {
      // The line search found nothing better along the gradient itself: rounding is all that is left.
      state.finish(true, "no step decreases the objective any more");
    }
  }
  if (save) save(state);
}

}  // namespace semicrf
