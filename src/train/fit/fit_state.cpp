#include "train/fit/fit_state.h"

#include <cmath>

namespace semicrf {

void finish_iteration(const StopRule& rule, FitState& state) {
  if (state.validation && (!state.best_validation || *state.validation < *state.best_validation)) {
    state.best_validation = state.validation;
    state.best_iteration = state.iteration;
    state.best_x = state.x;
    state.best_nll = state.nll;
  }
  if (state.best_validation && state.iteration - state.best_iteration >= rule.patience)
    return state.finish(
        true, "the validation NLL did not improve for " + std::to_string(rule.patience) + " iterations");
  if (state.losses.size() > static_cast<std::size_t>(kTolerancePeriod)) {
    const double last = state.losses.back();
    const double before = state.losses[state.losses.size() - 1 - static_cast<std::size_t>(kTolerancePeriod)];
    if (before - last < rule.tolerance * std::fabs(last))
      return state.finish(true, "the objective hardly decreases any more");
  }
  if (state.iteration >= rule.max_iterations) state.finish(false, "the iterations are used up");
}

}  // namespace semicrf
