#include "train/fit/training_problem.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "train/ranks/ranks.h"

namespace semicrf {
namespace {

constexpr std::int64_t kSideBySide = 1 << 20;  // positions: more fill a GPU by themselves

}  // namespace

TrainingProblem::TrainingProblem(const TrainingData& training, const TrainingData& validation,
                                 const ParameterSpace& space, const Penalties& penalties,
                                 const EngineOptions& engine, double margin, Ranks* ranks)
    : training_(training),
      validation_(validation),
      space_(space),
      penalties_(penalties),
      sums_(training, validation, engine, ranks),
      positions_(training.positions()) {
  objective_.margin = margin;
  objective_.emissions = space.is_free(ParameterPart::kWeights) || space.is_free(ParameterPart::kBias);
  objective_.boundary = space.is_free(ParameterPart::kBoundary);
  const bool is_alone = ranks == nullptr || ranks->size() == 1;
  side_by_side_ = is_alone && !validation.pieces.empty() &&
                  positions_ + validation.positions() <= kSideBySide && takes_gpu(engine);
}

double TrainingProblem::evaluate(std::span<const double> x, std::span<double> gradient, double& nll) const {
  validate_beside(x);
  const double value = evaluate_pieces({}, x, gradient, nll);
  if (beside_.valid()) beside_.wait();
  return value;
}

double TrainingProblem::evaluate_pieces(std::span<const std::size_t> pieces, std::span<const double> x,
                                        std::span<double> gradient, double& nll) const {
  const Parameters parameters = space_.unpack(x);
  ParameterGradient likelihood(parameters);
  std::int64_t covered = pieces.empty() ? positions_ : 0;
  for (const std::size_t i : pieces) covered += training_.pieces[i].length;
  const double total = sums_.nll(PieceSums::Of::kTraining, pieces, parameters, objective_, &likelihood);
  ParameterGradient prior(parameters);
  const double penalty = penalties_.value(parameters, &prior);
  const std::vector<double> by_likelihood = space_.chain(parameters, likelihood);
  const std::vector<double> by_prior = space_.chain(parameters, prior);
  const auto seen = static_cast<double>(covered);
  const auto all = static_cast<double>(positions_);
  for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] = by_likelihood[i] / seen + by_prior[i] / all;
  nll = total / seen;
  const double value = nll + penalty / all;
  const bool finite = std::isfinite(value) && std::all_of(gradient.begin(), gradient.end(),
                                                          [](double g) { return std::isfinite(g); });
  if (!finite)
    throw InputError(
        {"", "", "the loss or its gradient is not finite; no parameters are written",
         "check the tracks for extreme values, choose --transform asinh, raise the penalties or lower the "
         "learning rate"});
  return value;
}

std::optional<double> TrainingProblem::validate(std::span<const double> x) const {
  if (validation_.pieces.empty()) return std::nullopt;
  const bool is_there = beside_.valid() && std::ranges::equal(beside_at_, x);
  return is_there ? beside_.get() : validation_nll(x);
}

void TrainingProblem::validate_beside(std::span<const double> x) const {
  if (!side_by_side_) return;
  if (beside_.valid()) beside_.wait();
  beside_at_.assign(x.begin(), x.end());
  beside_ = do_beside([this] { return validation_nll(beside_at_); });
}

double TrainingProblem::validation_nll(std::span<const double> x) const {
  const double total = sums_.nll(PieceSums::Of::kValidation, {}, space_.unpack(x), objective_, nullptr);
  return total / static_cast<double>(validation_.positions());
}

}  // namespace semicrf
