#include "pipeline/window_plan.h"

#include <algorithm>
#include <cstdio>

#include "core/error.h"

namespace semicrf {
namespace {

std::string mebibytes(std::size_t bytes) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / 1048576.0);
  return text;
}

std::size_t window_bytes(const WindowNeeds& needs, std::int64_t positions, std::int64_t halos) {
  return needs.engine_bytes(positions) + needs.score_bytes * static_cast<std::size_t>(positions + halos) +
         needs.output_bytes * static_cast<std::size_t>(positions);
}

}  // namespace

PositionRange WindowPlan::range(std::int64_t n) const {
  return {n * window, std::min(length, n * window + window)};
}

PositionRange WindowPlan::read_range(std::int64_t n) const {
  const PositionRange inner = range(n);
  return {std::max<std::int64_t>(0, inner.begin - left_halo), std::min(length, inner.end + right_halo)};
}

std::size_t comfortable_window_bytes(std::int64_t length, const ChunkGrid& grid, const WindowNeeds& needs) {
  constexpr std::int64_t kWarmupsPerWindow = 8;
  const std::size_t whole = window_bytes(needs, length, 0);
  if (grid.chunk >= length) return whole;
  const std::int64_t chunks = std::max<std::int64_t>(1, kWarmupsPerWindow * grid.warmup / grid.chunk);
  return std::min(whole, window_bytes(needs, std::min(length, chunks * grid.chunk), 2 * grid.warmup));
}

std::int64_t enough_positions(const ChunkGrid& grid) {
  constexpr std::int64_t kEnoughPositions = 1 << 20;
  constexpr std::int64_t kEnoughChunks = 64;
  constexpr std::int64_t kLongestChunk = std::int64_t{1} << 40;  // of a grid that can cut at all
  return std::max(kEnoughPositions, kEnoughChunks * std::min(grid.chunk, kLongestChunk));
}

WindowPlan plan_windows(std::int64_t length, const ChunkGrid& grid, const WindowNeeds& needs,
                        std::size_t budget) {
  WindowPlan plan;
  plan.length = length;
  plan.window = length;
  plan.budget = budget;
  plan.bytes = window_bytes(needs, length, 0);
  const std::int64_t enough = needs.enough_positions == 0 ? length : needs.enough_positions;
  if (plan.bytes <= budget && length <= enough) return plan;

  plan.left_halo = grid.warmup;
  plan.right_halo = needs.reads_right_halo ? grid.warmup : 0;
  const std::int64_t halos = plan.left_halo + plan.right_halo;
  const auto bytes_of = [&](std::int64_t chunks) { return window_bytes(needs, chunks * grid.chunk, halos); };
  const bool can_cut = grid.chunk < length;
  if (!can_cut && plan.bytes <= budget) return plan;
  if (!can_cut || bytes_of(1) > budget) {
    throw MemoryError({"", "",
                       "the smallest window needs " +
                           mebibytes(can_cut ? std::min(plan.bytes, bytes_of(1)) : plan.bytes) + " and " +
                           mebibytes(budget) + " are available for windows",
                       "raise --max-memory"});
  }
  std::int64_t fits = 1;
  std::int64_t too_many = (std::min(length, enough) + grid.chunk - 1) / grid.chunk + 1;
  while (too_many - fits > 1) {
    const std::int64_t middle = fits + (too_many - fits) / 2;
    (bytes_of(middle) <= budget ? fits : too_many) = middle;
  }
  plan.window = fits * grid.chunk;
  plan.bytes = bytes_of(fits);
  return plan;
}

std::string describe(const WindowPlan& plan) {
  if (plan.count() == 1)
    return "1 window of " + std::to_string(plan.length) + " positions, " + mebibytes(plan.bytes);
  return std::to_string(plan.count()) + " windows of " + std::to_string(plan.window) + " positions, " +
         mebibytes(plan.bytes) + " each";
}

}  // namespace semicrf
