#include "train/fit/lbfgs_fit.h"

#include <lbfgs.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <span>

#include "core/error.h"

namespace semicrf {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kHistory = 40;         // pairs of steps and gradient changes
constexpr double kGradient = 1e-12;  // of the norm of the coordinates: nothing left to gain
constexpr int kStopRound = 1;        // what the progress callback returns to end a round

class Round {
 public:
  Round(const TrainingProblem& problem, const StopRule& rule, const IterationSink& show,
        const CheckpointSink& save, FitState& state)
      : problem_(problem), rule_(rule), show_(show), save_(save), state_(state), last_(Clock::now()) {}

  // Returns what lbfgs() did.
  int run() {
    const auto size = static_cast<int>(state_.x.size());
    lbfgs_parameter_t parameters;
    lbfgs_parameter_init(&parameters);
    parameters.m = kHistory;
    parameters.epsilon = kGradient;
    parameters.max_linesearch = 20;
    const std::unique_ptr<lbfgsfloatval_t, void (*)(lbfgsfloatval_t*)> x(lbfgs_malloc(size), &lbfgs_free);
    if (!x) throw std::bad_alloc();
    std::copy(state_.x.begin(), state_.x.end(), x.get());
    first_iteration_ = state_.iteration;
    const int outcome = lbfgs(size, x.get(), nullptr, &Round::evaluate, &Round::progress, this, &parameters);
    if (error_) std::rethrow_exception(error_);
    return outcome;
  }

  bool moved() const { return state_.iteration > first_iteration_; }

 private:
  // Exceptions must not cross the library: they are kept, and the round is ended as soon as it asks.
  static lbfgsfloatval_t evaluate(void* self, const lbfgsfloatval_t* x, lbfgsfloatval_t* gradient, int size,
                                  lbfgsfloatval_t) {
    auto& round = *static_cast<Round*>(self);
    const auto count = static_cast<std::size_t>(size);
    if (!round.error_) {
      try {
        ++round.evaluations_;
        return round.problem_.evaluate({x, count}, {gradient, count}, round.nll_);
      } catch (...) {
        round.error_ = std::current_exception();
      }
    }
    std::fill_n(gradient, count, 0.0);
    return 0;
  }

  static int progress(void* self, const lbfgsfloatval_t* x, const lbfgsfloatval_t* gradient,
                      lbfgsfloatval_t value, lbfgsfloatval_t, lbfgsfloatval_t gradient_norm, lbfgsfloatval_t,
                      int size, int, int) {
    static_cast<void>(gradient);
    auto& round = *static_cast<Round*>(self);
    if (round.error_) return kStopRound;
    try {
      return round.take(std::span(x, static_cast<std::size_t>(size)), value, gradient_norm);
    } catch (...) {
      round.error_ = std::current_exception();
      return kStopRound;
    }
  }

  int take(std::span<const double> x, double value, double gradient_norm) {
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
    return state_.finished || state_.iteration % kRound == 0 ? kStopRound : 0;
  }

  const TrainingProblem& problem_;
  const StopRule& rule_;
  const IterationSink& show_;
  const CheckpointSink& save_;
  FitState& state_;
  Clock::time_point last_;
  double nll_ = 0;  // of the last evaluation
  int evaluations_ = 0;
  int first_iteration_ = 0;
  std::exception_ptr error_;
};

}  // namespace

void fit_lbfgs(const TrainingProblem& problem, const StopRule& rule, const IterationSink& show,
               const CheckpointSink& save, FitState& state) {
  const auto finish = [&](bool converged, const std::string& reason) {
    state.finished = true;
    state.converged = converged;
    state.reason = reason;
  };
  if (state.x.empty()) finish(true, "there is no free parameter");
  while (!state.finished) {
    Round round(problem, rule, show, save, state);
    const int outcome = round.run();
    if (state.finished) break;
    if (outcome == LBFGSERR_OUTOFMEMORY) throw std::bad_alloc();
    if (outcome == LBFGS_SUCCESS || outcome == LBFGS_ALREADY_MINIMIZED) {
      finish(true, "the gradient is zero");
    } else if (outcome != kStopRound && !round.moved()) {
      // The line search found nothing better along the gradient itself: rounding is all that is left.
      finish(true, "no step decreases the objective any more");
    }
  }
  if (save) save(state);
}

}  // namespace semicrf
