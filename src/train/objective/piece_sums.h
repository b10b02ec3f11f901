// What a fit asks of its data, computed by all ranks: rank 0 asks, the others serve.
//
// Parameters travel as the numbers that act on scores; what else they have is that of the first parameters,
// which every rank has made from the same files and options.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "engine/options.h"
#include "model/parameters.h"
#include "train/objective/objective.h"
#include "train/ranks/ranks.h"

namespace semicrf {

class PieceSums {
 public:
  enum class Of : char { kTraining, kValidation };

  // Everything must outlive it. `ranks` null: this process alone.
  PieceSums(const TrainingData& training, const TrainingData& validation, const EngineOptions& engine,
            Ranks* ranks = nullptr)
      : training_(training), validation_(validation), engine_(engine), ranks_(ranks) {}

  // On rank 0. As negative_log_likelihood() over `pieces` (all where empty), and best_segmentations() of the
  // training data.
  double nll(Of of, std::span<const std::size_t> pieces, const Parameters& parameters,
             ObjectiveOptions options, ParameterGradient* gradient) const;
  double mean_nll(Of of, const Parameters& parameters) const;  // per position, without a margin
  std::vector<std::vector<Segment>> paths(const Parameters& parameters) const;

  // On the other ranks: until the fit ends on rank 0.
  void serve(const Parameters& first) const;

 private:
  const TrainingData& data(Of of) const { return of == Of::kTraining ? training_ : validation_; }

  const TrainingData& training_;
  const TrainingData& validation_;
  EngineOptions engine_;
  Ranks* ranks_;
};

}  // namespace semicrf
