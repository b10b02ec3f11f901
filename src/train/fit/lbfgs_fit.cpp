#include "train/fit/lbfgs_fit.h"

#include <LBFGSpp/Param.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <span>
#include <string>
#include <vector>

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

// L-BFGS of LBFGSpp: its history of steps, and its line search of Nocedal and Wright. The loop is ours, as
// that of LBFGSpp calls nothing after an iteration.
//
// Param.h comes first: the others do not include it.
#include <LBFGSpp/BFGSMat.h>
#include <LBFGSpp/LineSearchNocedalWright.h>

#include <Eigen/Core>
#include <algorithm>
#include <exception>
#include <limits>
#include <stdexcept>

namespace semicrf {
namespace {

using Vector = Eigen::VectorXd;
using LineSearch = LBFGSpp::LineSearchNocedalWright<double>;

std::span<const double> numbers(const Vector& x) { return {x.data(), static_cast<std::size_t>(x.size())}; }

// The objective as LBFGSpp calls it; keeps where it was evaluated last, and what it threw.
struct Objective {
  const MinimiseCalls& calls;
  Vector last;
  std::exception_ptr error;

  double operator()(const Vector& x, Vector& gradient) {
    last = x;
    try {
      return calls.evaluate(numbers(x), {gradient.data(), static_cast<std::size_t>(gradient.size())});
    } catch (...) {
      error = std::current_exception();
      throw;
    }
  }
};

struct Point {
  Vector x, gradient;
  double value = 0;
};

// A step along `direction` from `from`, from the length `step` on. LBFGSpp 0.3 has other arguments than those
// before.
template <class Search>
void search(Objective& objective, const LBFGSpp::LBFGSParam<double>& parameters, const Point& from,
            const Vector& direction, double step, Point& to) {
  to = from;
  double slope = from.gradient.dot(direction);
  const double longest = std::numeric_limits<double>::infinity();
  if constexpr (requires {
                  Search::LineSearch(objective, parameters, from.x, direction, longest, step, to.value,
                                     to.gradient, slope, to.x);
                }) {
    Search::LineSearch(objective, parameters, from.x, direction, longest, step, to.value, to.gradient, slope,
                       to.x);
  } else {
    Search::LineSearch(objective, to.value, to.x, to.gradient, step, direction, from.x, parameters);
  }
  // The best point of a search that ran out of evaluations need not be its last one.
  if (to.x != objective.last) to.value = objective(to.x, to.gradient);
}

bool is_flat(const Point& point) {
  return point.gradient.norm() <= kGradient * std::max(1.0, point.x.norm());
}

}  // namespace

MinimiseEnd minimise(std::span<const double> start, const MinimiseCalls& calls) {
  const auto size = static_cast<Eigen::Index>(start.size());
  LBFGSpp::LBFGSParam<double> parameters;
  parameters.linesearch = LBFGSpp::LBFGS_LINESEARCH_BACKTRACKING_STRONG_WOLFE;
  parameters.max_linesearch = kLineSearch;
  LBFGSpp::BFGSMat<double> history;
  history.reset(static_cast<int>(size), kHistory);
  Objective objective{calls, {}, {}};
  Point here{Eigen::Map<const Vector>(start.data(), size), Vector(size), 0};
  here.value = objective(here.x, here.gradient);
  if (is_flat(here)) return MinimiseEnd::kFlat;
  Vector direction = -here.gradient;
  double step = 1 / direction.norm();
  for (Point next;;) {
    try {
      search<LineSearch>(objective, parameters, here, direction, step, next);
    } catch (const std::logic_error&) {  // the direction does not descend
      if (objective.error) throw;
      return MinimiseEnd::kNoStep;
    } catch (const std::runtime_error&) {  // no such step within the precision
      if (objective.error) throw;
      return MinimiseEnd::kNoStep;
    }
    if (!(next.value <= here.value)) return MinimiseEnd::kNoStep;
    const Vector moved = next.x - here.x, bent = next.gradient - here.gradient;
    here = next;
    if (calls.iteration(numbers(here.x), here.value, here.gradient.norm())) return MinimiseEnd::kAsked;
    if (is_flat(here)) return MinimiseEnd::kFlat;
    if (moved.dot(bent) > 0) history.add_correction(moved, bent);
    history.apply_Hv(here.gradient, -1.0, direction);
    step = 1;
  }
}

}  // namespace semicrf
