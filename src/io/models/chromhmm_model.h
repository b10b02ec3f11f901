// Models of ChromHMM: hidden Markov models of 0/1 tracks, as LearnModel writes them (model_N.txt).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/warning.h"
#include "model/parameters.h"

namespace semicrf {

// N states, M marks; all numbers are probabilities.
struct ChromHmmModel {
  std::string order;          // letter before the numbers of states: "E", "U" or "T"
  double log_likelihood = 0;  // nats, of the data it was learned from
  std::int64_t iterations = 0;
  std::vector<std::string> marks;  // M
  std::vector<double> first;       // (N)
  std::vector<double> transition;  // (N, N) row-major, [from][to]
  std::vector<double> emission;    // (N, M) row-major: of a 1

  std::size_t states() const { return first.size(); }
};

// InputError with the line: not such a file, a number that is none or no probability, an entry twice, of an
// unknown state or mark, or missing; rows that do not sum to 1 within 1e-3.
ChromHmmModel read_chromhmm_model(const std::string& path);

// The same model as parameters: a bin is a segment (K = 1) that its own label may follow, so that log Z is
// the model's log P(tracks). A probability of 0 is forbidden among first states and transitions; among
// emissions, which heads cannot forbid, it becomes 1e-9 (and 1 becomes 1 - 1e-9), with a warning. Labels are
// named E1, E2, ...
Parameters parameters_of(const ChromHmmModel& model, std::int64_t bin_size, std::vector<Warning>& warnings);

// The `training` section of these parameters: the file of the model, and what it says of its fit.
std::string chromhmm_record_text(const ChromHmmModel& model, const std::string& path);

}  // namespace semicrf
