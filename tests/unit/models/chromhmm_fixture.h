// Small hidden Markov models of 0/1 tracks, and their likelihood by the textbook.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/exchange/chromhmm.h"

namespace semicrf::test {

// Two states, two marks.
inline ChromHmmModel small_model() {
  ChromHmmModel model;
  model.log_likelihood = -12.5;
  model.iterations = 7;
  model.marks = {"A", "B"};
  model.first = {0.25, 0.75};
  model.transition = {0.5, 0.5, 0.125, 0.875};
  model.emission = {0.9, 0.1, 0.2, 0.7};
  return model;
}

// Some first states and transitions, never those from a state to itself, are 0.
template <class Random>
ChromHmmModel random_model(std::size_t states, std::size_t marks, Random& random) {
  std::uniform_real_distribution<double> uniform(0.05, 0.95);
  ChromHmmModel model;
  for (std::size_t m = 0; m < marks; ++m) model.marks.push_back("mark" + std::to_string(m));
  const auto draw = [&](std::size_t kept, std::vector<double>& list) {
    std::vector<double> row(states);
    double sum = 0;
    for (std::size_t c = 0; c < states; ++c)
      sum += row[c] = c == kept || uniform(random) > 0.3 ? uniform(random) : 0;
    for (const double value : row) list.push_back(value / sum);
  };
  draw(0, model.first);
  for (std::size_t c = 0; c < states; ++c) draw(c, model.transition);
  for (std::size_t i = 0; i < states * marks; ++i) model.emission.push_back(uniform(random));
  return model;
}

template <class Random>
std::vector<float> random_bits(std::size_t count, Random& random) {
  std::vector<float> bits(count);
  for (float& bit : bits) bit = std::bernoulli_distribution(0.4)(random) ? 1.0F : 0.0F;
  return bits;
}

// ln P(rows), `rows` (T, M): the forward recursion on probabilities, scaled in every bin.
inline double hmm_log_likelihood(const ChromHmmModel& model, const std::vector<float>& rows) {
  const std::size_t states = model.states(), marks = model.marks.size();
  std::vector<double> alpha;
  double total = 0;
  for (std::size_t t = 0; t < rows.size() / marks; ++t) {
    std::vector<double> next(states, 0.0);
    double scale = 0;
    for (std::size_t to = 0; to < states; ++to) {
      double sum = t == 0 ? model.first[to] : 0;
      for (std::size_t from = 0; t > 0 && from < states; ++from)
        sum += alpha[from] * model.transition[from * states + to];
      for (std::size_t m = 0; m < marks; ++m) {
        const double p = model.emission[to * marks + m];
        sum *= rows[t * marks + m] == 1.0F ? p : 1 - p;
      }
      scale += next[to] = sum;
    }
    for (double& value : next) value /= scale;
    total += std::log(scale);
    alpha = next;
  }
  return total;
}

// The message of the InputError that `call` throws; empty when it throws none.
template <class Call>
std::string input_error(Call call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace semicrf::test
