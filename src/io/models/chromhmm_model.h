// Files of ChromHMM's models, as LearnModel writes them (model_N.txt): columns separated by tabs,
//   states marks letter log-likelihood iterations
//   probinit state p
//   transitionprobs from to p
//   emissionprobs state mark name value p
// States count from 1, marks from 0; value is 0 or 1.
#pragma once

#include <string>

#include "model/exchange/chromhmm.h"

namespace semicrf {

// InputError with the line: not such a file, a number that is none or no probability, an entry twice, of an
// unknown state or mark, or missing; probabilities that do not sum to 1 within 1e-3; more than 1000 states or
// 10,000 marks. ReadError: cannot be opened or read.
ChromHmmModel read_chromhmm_model(const std::string& path);

// The text of such a file. Numbers are the shortest that read back as the same double.
std::string chromhmm_model_text(const ChromHmmModel& model);

// The tables beside it, emissions_N.txt and transitions_N.txt: a row per state, a column per mark or state.
// The first needs no more of the model than marks and emissions.
std::string chromhmm_emissions_text(const ChromHmmModel& model);
std::string chromhmm_transitions_text(const ChromHmmModel& model);

// The `training` section of parameters made of a model: the file of the model, what it says of its fit, and
// `segments`, the file that durations are from, or empty. ReadError.
std::string chromhmm_record_text(const ChromHmmModel& model, const std::string& path,
                                 const std::string& segments);

// Sets log likelihood and iterations to what a `training` section (its JSON text, or empty) written by
// chromhmm_record_text says; leaves them alone where it is another.
void take_chromhmm_record(const std::string& training, ChromHmmModel& model);

}  // namespace semicrf
