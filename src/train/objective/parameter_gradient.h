// Derivatives by everything in Parameters that acts on scores, in the shapes of Parameters.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "core/score_window.h"
#include "model/parameters.h"
#include "model/scores/density_slopes.h"

namespace semicrf {

// Entries of forbidden scores (-inf) mean nothing and are not read.
struct ParameterGradient {
  std::vector<double> weights, bias;              // (C, F), (C)
  std::vector<double> start_weights, start_bias;  // as in BoundaryHead; empty where the head has none
  std::vector<double> end_weights, end_bias;
  std::vector<double> transition;  // (C, C)
  std::vector<double> duration;    // (K, C), by the score of each duration up to K
  std::vector<double> tail;        // (C), by log q; empty without a tail
  std::vector<double> start, end;  // (C)
  // (D, kPartCount): by the coordinates of each density among the tracks (density_slopes.h); 0 where the data
  // hold the log densities themselves
  std::vector<double> densities;

  ParameterGradient() = default;
  // Zeros in the shapes of `parameters`.
  explicit ParameterGradient(const Parameters& parameters)
      : weights(parameters.emission ? parameters.emission->weights.size() : 0),
        bias(parameters.emission ? parameters.emission->bias.size() : 0),
        transition(parameters.chain.transition.size()),
        duration(parameters.chain.duration_bias.size()),
        tail(parameters.chain.log_tail.size()),
        start(parameters.labels.size()),
        end(parameters.labels.size()),
        densities(kPartCount * std::ranges::count_if(parameters.tracks, &Track::is_density)) {
    if (!parameters.boundary) return;
    start_weights.resize(parameters.boundary->start_weights.size());
    start_bias.resize(parameters.boundary->start_bias.size());
    end_weights.resize(parameters.boundary->end_weights.size());
    end_bias.resize(parameters.boundary->end_bias.size());
  }

  // Adds or subtracts `other`, which has the same shapes.
  void add(const ParameterGradient& other) {
    for_each_number(other, [](double& to, double from) { to += from; });
  }
  void subtract(const ParameterGradient& other) {
    for_each_number(other, [](double& to, double from) { to -= from; });
  }

  // All of the above, in this order.
  static constexpr auto lists() {
    return std::array{
        &ParameterGradient::weights,    &ParameterGradient::bias,        &ParameterGradient::start_weights,
        &ParameterGradient::start_bias, &ParameterGradient::end_weights, &ParameterGradient::end_bias,
        &ParameterGradient::transition, &ParameterGradient::duration,    &ParameterGradient::tail,
        &ParameterGradient::start,      &ParameterGradient::end,         &ParameterGradient::densities};
  }

 private:
  template <class Change>
  void for_each_number(const ParameterGradient& other, Change change) {
    for (const auto list : lists())
      for (std::size_t i = 0; i < (this->*list).size(); ++i) change((this->*list)[i], (other.*list)[i]);
  }
};

// Derivatives by transitions, durations and tails.
inline void add_counts(const ExpectedCounts& counts, ParameterGradient& gradient) {
  const auto add_list = [](const std::vector<double>& from, std::vector<double>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) to[i] += from[i];
  };
  add_list(counts.transition, gradient.transition);
  add_list(counts.duration, gradient.duration);
  add_list(counts.tail, gradient.tail);
}

}  // namespace semicrf
