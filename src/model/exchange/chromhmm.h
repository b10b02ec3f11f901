// Models of ChromHMM: hidden Markov models of 0/1 tracks, to parameters and back.
//
// In every bin each mark m is 1 with probability p of the state, independently of the others, so its log
// probability is linear in the tracks: weight log p - log(1-p), bias the sum over marks of log(1-p).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "model/parameters.h"

namespace semicrf {

// N states, M marks; all numbers but the first three are probabilities.
struct ChromHmmModel {
  char order = 'E';           // what states are sorted by, and the letter before their numbers: E, T or U
  double log_likelihood = 0;  // nats, of the data it was learned from
  std::int64_t iterations = 0;
  std::vector<std::string> marks;  // M
  std::vector<double> first;       // (N)
  std::vector<double> transition;  // (N, N) row-major, [from][to]
  std::vector<double> emission;    // (N, M) row-major: of a 1

  std::size_t states() const { return first.size(); }
};

// The letters that ChromHMM has: by emission, by transition, or as a user ordered them.
inline constexpr const char* kChromHmmOrders = "ETU";

// Probabilities of emissions are kept this far from 0 and 1, which linear heads cannot hold.
inline constexpr double kLeastEmission = 1e-9;

// The same model as parameters (set_hidden_markov_chain()), so that log Z is the model's log P(tracks). A
// probability of 0 is forbidden among first states and transitions; an emission
// of 0 or 1 becomes kLeastEmission or 1 less that, with a warning. Labels have the names that ChromHMM gives
// segments: the letter and the number of the state, E1, E2, ...
Parameters parameters_of(const ChromHmmModel& model, std::int64_t bin_size, std::vector<Warning>& warnings);

// The other way: segments of any number of bins whose scores fall geometrically (K = 1, or K and a tail that
// goes on as the durations before), and heads of Bernoulli distributions. Score and probability agree but
// for what warnings tell: names of labels that are not one letter and their number, transforms, and
// scores of the end of a sequence. Log likelihood and iterations stay 0. `file` names the parameters in the
// InputError that says what is in the way: explicit durations, boundary scores, centring, first or next
// labels or emissions that are no distribution.
ChromHmmModel chromhmm_model_of(const Parameters& parameters, const std::string& file,
                                std::vector<Warning>& warnings);

// Marks and emissions alone, of parameters with any durations. nullopt: they are no Bernoulli distributions.
std::optional<ChromHmmModel> chromhmm_emissions_of(const Parameters& parameters);

}  // namespace semicrf
