#include "train/fit/fit_state.h"

#include <fmt/format.h>

#include <cmath>

#include "io/checkpoint/checkpoint.h"

namespace semicrf {

void finish_iteration(const StopRule& rule, FitState& state) {
  if (state.validation && (!state.best_validation || *state.validation < *state.best_validation)) {
    state.best_validation = state.validation;
    state.best_iteration = state.iteration;
    state.best_x = state.x;
    state.best_nll = state.nll;
  }
  if (state.best_validation && state.iteration - state.best_iteration >= rule.patience)
    return state.finish(true,
                        fmt::format("the validation NLL did not improve for {} iterations", rule.patience));
  if (std::ssize(state.losses) > kTolerancePeriod) {
    const double last = state.losses.back();
    const double before = state.losses[state.losses.size() - 1 - kTolerancePeriod];
    if (before - last < rule.tolerance * std::fabs(last))
      return state.finish(true, "the objective hardly decreases any more");
  }
  if (state.iteration >= rule.max_iterations) state.finish(false, "the iterations are used up");
}

namespace {

constexpr const char* kKind = "semicrf-checkpoint 1";

}  // namespace

std::string checkpoint_text(const std::string& fingerprint, const FitState& state) {
  CheckpointWriter fields(kKind, fingerprint);
  fields.put("iteration", std::int64_t{state.iteration});
  fields.put("x", state.x);
  fields.put("losses", state.losses);
  fields.put("nll", state.nll);
  fields.put("validation", state.validation);
  fields.put("best_validation", state.best_validation);
  fields.put("best_iteration", std::int64_t{state.best_iteration});
  fields.put("best_x", state.best_x);
  fields.put("best_nll", state.best_nll);
  fields.put("first_moment", state.first_moment);
  fields.put("second_moment", state.second_moment);
  fields.put("steps", state.steps);
  fields.put("finished", state.finished);
  fields.put("converged", state.converged);
  fields.put("reason", state.reason);
  return fields.finish();
}

FitState read_checkpoint(const std::string& path, const std::string& fingerprint, std::size_t size) {
  CheckpointReader fields(path, kKind, fingerprint);
  FitState state;
  state.iteration = fields.integer<int>("iteration");
  state.x = fields.list("x");
  state.losses = fields.list("losses");
  state.nll = fields.optional("nll").value_or(0);
  state.validation = fields.optional("validation");
  state.best_validation = fields.optional("best_validation");
  state.best_iteration = fields.integer<int>("best_iteration");
  state.best_x = fields.list("best_x");
  state.best_nll = fields.optional("best_nll").value_or(0);
  state.first_moment = fields.list("first_moment");
  state.second_moment = fields.list("second_moment");
  state.steps = fields.integer<std::int64_t>("steps");
  state.finished = fields.flag("finished");
  state.converged = fields.flag("converged");
  state.reason = fields.text("reason");
  const auto fits = [&](const std::vector<double>& list) { return list.empty() || list.size() == size; };
  if (state.x.size() != size || !fits(state.best_x) || !fits(state.first_moment) ||
      !fits(state.second_moment))
    fields.fail("the number of coordinates is wrong");
  return state;
}

}  // namespace semicrf
