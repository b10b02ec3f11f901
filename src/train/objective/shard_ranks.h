// Shards over ranks: which rank computes which, and their sums on the way to rank 0.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/objective/parameter_gradient.h"

namespace semicrf {

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
