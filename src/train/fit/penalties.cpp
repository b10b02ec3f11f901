#include "train/fit/penalties.h"

#include <cmath>

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
  const auto labels = static_cast<std::size_t>(chain.num_labels);
  const auto longest = static_cast<std::size_t>(chain.max_duration);
  const std::vector<double>& bias = chain.duration_bias;
  double sum = 0;
  for (std::size_t row = 1; row + 1 < longest; ++row) {
    const double k = static_cast<double>(row + 1);
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

}  // namespace

Penalties::Penalties(const PenaltyOptions& options, const Parameters& first)
    : options_(options), start_(first.chain.start_scores), end_(first.chain.end_scores) {
  if (first.chain.has_tail()) tail_ = first.duration.tail;
}

double Penalties::value(const Parameters& parameters, ParameterGradient* gradient) const {
  const auto part = [&](std::vector<double> ParameterGradient::*member) {
    return gradient == nullptr ? nullptr : &(gradient->*member);
  };
  double sum = 0;
  if (parameters.emission)
    sum += squares(options_.l2, parameters.emission->weights, {}, part(&ParameterGradient::weights));
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

}  // namespace semicrf
