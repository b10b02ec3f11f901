// What a parameter file and the statistics say of a model that was learned without labels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/statistic.h"

namespace semicrf {

// One fit of one number of labels.
struct LearnedFit {
  int labels = 0;
  int restart = 0;  // 0, 1, ...
  int iterations = 0;
  bool converged = false;
  std::vector<double> log_likelihood;  // nats, of the training data: before the first iteration, after each
  std::optional<double> validation;    // for the validation data
  int parameters = 0;                  // free ones
  double aic = 0, bic = 0;
  double icl = 0;  // the integrated completed likelihood's: BIC and twice the entropy of the segmentations
  std::optional<double> validation_entropy;
};

// What fits are compared by; --stats has the first part.
const StatisticList<LearnedFit>& fit_statistics();

struct LearnRecord {
  std::string version;
  std::string emission;
  std::vector<std::pair<std::string, std::string>> options;  // what changes the result
  std::vector<std::pair<std::string, std::string>> files;    // name and SHA-256
  std::int64_t positions = 0, validation_positions = 0;      // bins
  std::vector<double> sizes;  // sizes of negative binomial emissions, by track; else empty
  std::vector<std::pair<std::string, double>> copy_number;  // numbers of that preset; else empty
  std::vector<LearnedFit> fits;
  std::size_t chosen = 0;  // place in `fits`
};

// The `training` section: a JSON object on one line. Of the fits that were not chosen the last value stands.
std::string learn_record_text(const LearnRecord& record);
// The fits as a table for the log: a line each, the first with the names of the columns.
std::vector<std::string> comparison_lines(const LearnRecord& record);

}  // namespace semicrf
