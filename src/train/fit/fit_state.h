// Where a fit stands: everything that is needed to go on.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace semicrf {

struct FitState {
  int iteration = 0;                      // done; passes over the data for AdamW
  std::vector<double> x;                  // coordinates
  std::vector<double> losses;             // objective after each iteration
  double nll = 0;                         // per position, at the last iteration
  std::optional<double> validation;       // per position, at the last iteration
  std::optional<double> best_validation;  // and the iteration and coordinates it was found at
  int best_iteration = 0;
  std::vector<double> best_x;
  double best_nll = 0;
  std::vector<double> first_moment, second_moment;  // moments of AdamW
  std::int64_t steps = 0;                           // steps of AdamW
  bool finished = false;
  bool converged = false;
  std::string reason;  // why it finished

  void finish(bool has_converged, const std::string& why) {
    finished = true;
    converged = has_converged;
    reason = why;
  }
  friend bool operator==(const FitState&, const FitState&) = default;
};

// What is shown of an iteration.
struct IterationReport {
  int iteration = 0;
  double loss = 0;
  double nll = 0;  // per position
  std::optional<double> validation;
  double gradient_norm = 0;
  double step = 0;  // length of the step, in coordinates
  double positions_per_second = 0;
};
using IterationSink = std::function<void(const IterationReport&)>;

// Called after every iteration that does not end the fit, and at its end. Going on from the state gives the
// same bytes as never having stopped, but for iterations within a round of L-BFGS (lbfgs_fit.h).
using CheckpointSink = std::function<void(const FitState&)>;

// When to stop.
struct StopRule {
  int max_iterations = 200;  // passes over the data for AdamW
  double tolerance = 1e-5;   // relative decrease of the objective over ten iterations at which to stop
  int patience = 20;         // iterations without a better validation NLL after which to stop
};

inline constexpr int kTolerancePeriod = 10;  // iterations over which the decrease is measured

// Takes up an iteration (state.x, nll, losses and validation are set) and finishes the fit where a rule says
// so: validation NLL not better for `patience` iterations, objective decreased by less than `tolerance` times
// its size over kTolerancePeriod iterations, iterations used up.
void finish_iteration(const StopRule& rule, FitState& state);

// The checkpoint of a fit: on disk, to go on from after a stop.
//
// The text of a checkpoint. `fingerprint` tells the data and options it belongs to.
std::string checkpoint_text(const std::string& fingerprint, const FitState& state);

// ReadError: cannot be read. InputError: no checkpoint, damaged (its SHA-256 does not match), of another
// version, or of other data, options or coordinates than `fingerprint` and `size` say.
FitState read_checkpoint(const std::string& path, const std::string& fingerprint, std::size_t size);

}  // namespace semicrf
