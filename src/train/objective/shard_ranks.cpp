#include "train/objective/shard_ranks.h"

#include <algorithm>
#include <cstddef>

#include "train/ranks/bytes.h"

namespace semicrf {

std::vector<int> share_out(std::span<const std::int64_t> positions, int ranks) {
  std::vector<std::int64_t> load(static_cast<std::size_t>(ranks));
  std::vector<int> owners;
  for (const std::int64_t count : positions) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += count;
    owners.push_back(static_cast<int>(least - load.begin()));
  }
  return owners;
}

std::string bytes_of_rank(int rank, std::span<const int> owners, std::span<const ShardSums> sums) {
  std::string bytes;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (owners[i] != rank) continue;
    put(bytes, sums[i].value);
    put(bytes, sums[i].gradient.has_value());
    if (!sums[i].gradient) continue;
    for (const auto list : ParameterGradient::lists()) put(bytes, (*sums[i].gradient).*list);
  }
  return bytes;
}

void take_bytes(int rank, std::span<const int> owners, std::string_view bytes, std::span<ShardSums> sums) {
  ByteReader reader(bytes);
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (owners[i] != rank) continue;
    sums[i].value = reader.take<double>();
    if (!reader.take<bool>()) continue;
    sums[i].gradient.emplace();
    for (const auto list : ParameterGradient::lists()) (*sums[i].gradient).*list = reader.take_list<double>();
  }
}

}  // namespace semicrf
