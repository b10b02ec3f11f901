#include "train/fit/training_problem.h"

#include <algorithm>
#include <cmath>

#include "core/counts.h"
#include "core/error.h"
#include "core/threads/parallel.h"
#include "train/ranks/ranks.h"

namespace semicrf {

namespace {

// 1/2 weight sum (x - target)^2 over finite entries; `target` may be empty: 0.
double squares(double weight, const std::vector<double>& x, const std::vector<double>& target,
               std::vector<double>* gradient) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == kNegativeInfinity) continue;
    const double difference = x[i] - (target.empty() ? 0 : target[i]);
    sum += difference * difference;
    if (gradient != nullptr) (*gradient)[i] += weight * difference;
  }
  return 0.5 * weight * sum;
}

double roughness(double weight, const ChainModel& chain, std::vector<double>* gradient) {
  const std::size_t labels = chain.num_labels;
  const std::vector<double>& bias = chain.duration_bias;
  double sum = 0;
  for (int row = 1; row + 1 < chain.max_duration; ++row) {
    const double k = row + 1;
    const double cube = k * k * k;
    for (std::size_t i = row * labels; i < (row + 1) * labels; ++i) {
      const double bend = bias[i + labels] - 2 * bias[i] + bias[i - labels];
      if (!std::isfinite(bend)) continue;  // one of the three is forbidden
      sum += cube * bend * bend;
      if (gradient == nullptr) continue;
      const double slope = weight * cube * bend;
      (*gradient)[i + labels] += slope;
      (*gradient)[i] -= 2 * slope;
      (*gradient)[i - labels] += slope;
    }
  }
  return 0.5 * weight * sum;
}

// As if every label had one segment more whose excess over K is the mean one of its first q. Tails that
// continue a formula have no parameter of their own.
double tail_prior(double weight, const Parameters& parameters, const std::vector<double>& first,
                  std::vector<double>* gradient) {
  double sum = 0;
  for (std::size_t c = 0; c < first.size(); ++c) {
    const double log_q = parameters.chain.log_tail[c];
    if (log_q == kNegativeInfinity) continue;
    const double q = parameters.duration.tail[c];
    if (parameters.duration.continued_tail(c)) continue;
    const double excess = first[c] / (1 - first[c]);
    sum -= excess * log_q + std::log1p(-q);
    if (gradient != nullptr) (*gradient)[c] -= weight * (excess - q / (1 - q));
  }
  return weight * sum;
}

// Squares of the changes of the densities' coordinates.
double changes(double weight, const std::vector<Track>& tracks, const std::vector<Density>& first,
               std::vector<double>* gradient) {
  double sum = 0;
  const std::size_t begin = tracks.size() - first.size();
  for (std::size_t i = 0; i < first.size(); ++i)
    for (const DensityPart part : kDensityParts) {
      if (!has_part(first[i], part)) continue;
      const double unit = penalty_unit(first[i], part);
      const double change = (coordinate(tracks[begin + i].density, part) - coordinate(first[i], part)) / unit;
      sum += change * change;
      if (gradient != nullptr) (*gradient)[i * kPartCount + place_of(part)] += weight * change / unit;
    }
  return 0.5 * weight * sum;
}

}  // namespace

Penalties::Penalties(const PenaltyOptions& options, const Parameters& first, bool families)
    : options_(options), start_(first.chain.start_scores), end_(first.chain.end_scores) {
  if (first.chain.has_tail()) tail_ = first.duration.tail;
  if (!families) return;
  weights_ = first.emission->weights;
  for (const Track& track : first.tracks)
    if (track.is_density()) densities_.push_back(track.density);
}

double Penalties::value(const Parameters& parameters, ParameterGradient* gradient) const {
  const auto part = [&](std::vector<double> ParameterGradient::*member) {
    return gradient == nullptr ? nullptr : &(gradient->*member);
  };
  double sum = 0;
  if (parameters.emission)
    sum += squares(options_.l2, parameters.emission->weights, weights_, part(&ParameterGradient::weights)) +
           changes(options_.l2, parameters.tracks, densities_, part(&ParameterGradient::densities));
  if (parameters.boundary) {
    sum += squares(options_.l2_boundary, parameters.boundary->start_weights, {},
                   part(&ParameterGradient::start_weights));
    sum += squares(options_.l2_boundary, parameters.boundary->end_weights, {},
                   part(&ParameterGradient::end_weights));
  }
  const ChainModel& chain = parameters.chain;
  sum += squares(options_.l2_transition, chain.transition, {}, part(&ParameterGradient::transition));
  sum += squares(options_.l2_transition, chain.start_scores, start_, part(&ParameterGradient::start));
  sum += squares(options_.l2_transition, chain.end_scores, end_, part(&ParameterGradient::end));
  if (parameters.duration.kind->is_table() && options_.smoothness > 0)
    sum += roughness(options_.smoothness, chain, part(&ParameterGradient::duration));
  if (options_.smoothness > 0)
    sum += tail_prior(options_.smoothness, parameters, tail_, part(&ParameterGradient::tail));
  return sum;
}

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
  objective_.emissions = space.learns_emissions();
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
  return ratio(total, validation_.positions());
}

}  // namespace semicrf
