#include "cuda/tile_config.h"

#include <algorithm>

namespace semicrf::cuda {
namespace {

constexpr int kBlock = 16;

std::size_t aligned(std::size_t n) { return (n + 15) / 16 * 16; }
std::size_t wide(int n) { return static_cast<std::size_t>(n); }

std::size_t table_bytes(int offsets, int width, std::size_t real) {
  return aligned(wide(offsets + 1) * wide(width) * sizeof(double)) +
         aligned((wide(offsets) * 31 + kBlock) * wide(width) * real);
}
std::size_t ring_bytes(int ring_blocks, int width, std::size_t real) {
  return aligned(wide(ring_blocks) * wide(width) * sizeof(double)) +
         aligned(wide(ring_blocks) * kBlock * wide(width) * real);
}

// What the parts of the ring hand over, and the rows of alpha.
std::size_t parts_bytes(int labels, int splits, std::size_t real) {
  return aligned(64 * sizeof(double)) + aligned(2 * wide(labels) * sizeof(double)) +
         aligned(wide(labels) * wide(splits) * sizeof(double)) +
         aligned(wide(labels) * wide(splits) * kBlock * real) +
         aligned(2 * wide((labels + 3) / 4 * 4) * real);
}

// 168 registers a thread leave room for twelve warps; fewer than six do not hide the recursion's latency, and
// then the warps of a block had better share one chunk.
constexpr int kMostWarps = 12;
constexpr int kFewestWarps = 6;

bool warp_teams(int labels, int offsets, int ring_blocks, std::size_t limit, TileConfig* out) {
  if (labels > 32) return false;
  out->group = labels <= 8 ? 8 : (labels <= 16 ? 16 : 32);
  out->rows = out->group < 32 ? out->group : (labels <= 24 ? 24 : 32);
  out->table_width = out->group < 32 ? out->group : out->rows;
  const int ring_width = out->group < 32 ? 32 : out->rows;
  const int groups = 32 / out->group;
  const std::size_t tables = table_bytes(offsets, out->table_width, sizeof(float));
  const std::size_t warp = ring_bytes(ring_blocks, ring_width, sizeof(float)) +
                           aligned(2 * wide(groups) * wide(out->rows) * sizeof(float));
  if (tables + kFewestWarps * warp > limit) return false;
  out->warps = static_cast<int>(std::min<std::size_t>(kMostWarps, (limit - tables) / warp));
  out->shared_bytes = tables + wide(out->warps) * warp;
  out->teams_per_block = out->warps * groups;
  return true;
}

}  // namespace

TileConfig choose_tile(int labels, int max_duration, std::size_t real_bytes, std::size_t shared_limit) {
  const int offsets = (max_duration + kBlock - 2) / kBlock;
  const int ring_blocks = (max_duration + kBlock - 1) / kBlock;
  TileConfig config;
  if (real_bytes == sizeof(float) && warp_teams(labels, offsets, ring_blocks, shared_limit, &config))
    return config;
  config = TileConfig();
  config.block_team = true;
  config.table_width = labels;
  config.panels = (labels + 31) / 32;
  int lanes = 32;
  while (config.panels == 1 && lanes / 2 >= labels) lanes /= 2;
  const int per_warp = 32 / lanes;
  // Each part of the ring should have a few blocks to itself.
  const int wanted = std::max(1, ring_blocks / (4 * per_warp));
  int warps = std::clamp(wanted, 1, std::max(1, 16 / config.panels));
  std::size_t bytes = 0;
  for (;; --warps) {
    config.splits = std::min(warps * per_warp, ring_blocks);
    bytes = parts_bytes(labels, config.splits, real_bytes);
    if (bytes <= shared_limit || warps == 1) break;
  }
  config.warps = warps * config.panels;
  // The ring is read and written; the table is only read, and the same for all blocks of threads.
  const std::size_t ring = ring_bytes(ring_blocks, labels, real_bytes);
  const std::size_t table = table_bytes(offsets, labels, real_bytes);
  config.ring_in_shared = bytes + ring <= shared_limit;
  if (config.ring_in_shared) bytes += ring;
  config.table_in_shared = bytes + table <= shared_limit;
  if (config.table_in_shared) bytes += table;
  config.shared_bytes = bytes;
  return config;
}

RunGrid run_grid(int max_duration) {
  RunGrid grid;
  const std::int64_t longest = max_duration;
  grid.unit = (std::max<std::int64_t>(2 * longest, 64) + kBlock - 1) / kBlock * kBlock;
  grid.warmup = 4 * grid.unit;
  // Warm-ups cost an eighth at most where there are chunks enough.
  grid.chunk = 32 * grid.unit;
  while (grid.chunk < 8192) grid.chunk *= 2;
  return grid;
}

std::int64_t run_length(const RunGrid& grid, std::int64_t length, int labels) {
  // As many runs as a large card has teams at work, as far as they are not shorter than a quarter of the
  // warm-up.
  const std::int64_t teams = 1400 * (labels <= 8 ? 3 : (labels <= 16 ? 2 : 1));
  // A longer sequence comes in windows of about this size.
  constexpr std::int64_t kWindow = std::int64_t{20} << 20;
  const std::int64_t together = std::min(length, kWindow);
  std::int64_t run = grid.chunk;
  while (run > grid.unit && together / run < teams) run /= 2;
  return run;
}

}  // namespace semicrf::cuda
