#include "pipeline/windows/window_loop.h"

#include <algorithm>

namespace semicrf {

void ChunkTotals::add(const std::vector<ChunkReport>& chunks) {
  for (const ChunkReport& chunk : chunks) {
    fallbacks += chunk.fallbacks;
    repaired_chunks += chunk.repaired ? 1 : 0;
  }
}

bool is_impossible(const BoundaryState& state) {
  const auto all_forbidden = [](const std::vector<double>& entries) {
    return std::ranges::all_of(entries, [](double entry) { return entry == kNegativeInfinity; });
  };
  return all_forbidden(state.message) && all_forbidden(state.ring) && all_forbidden(state.tail);
}

}  // namespace semicrf
