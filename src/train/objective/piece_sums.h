// What a fit asks of its data, computed by all ranks: rank 0 asks, the others serve.
//
// Parameters travel as the numbers that act on scores; what else they have is that of the first parameters,
// which every rank has made from the same files and options.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/options.h"
#include "model/parameters.h"
#include "train/objective/objective.h"
#include "train/objective/parameter_gradient.h"
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

// Shards over ranks: which rank computes which, and their sums on the way to rank 0.
//
// What a shard of the pieces adds to the objective and its derivatives.
struct ShardSums {
  double value = 0;
  std::optional<ParameterGradient> gradient;
};

// The rank of each of the groups of so many positions: each goes to the rank with the fewest so far.
std::vector<int> share_out(std::span<const std::int64_t> positions, int ranks);

// The sums of the shards that `rank` owns, in their order, and the way back.
std::string bytes_of_rank(int rank, std::span<const int> owners, std::span<const ShardSums> sums);
void take_bytes(int rank, std::span<const int> owners, std::string_view bytes, std::span<ShardSums> sums);

}  // namespace semicrf
