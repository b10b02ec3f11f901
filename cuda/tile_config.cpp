#include "cuda/tile_config.h"

#include <algorithm>

namespace semicrf::cuda {
namespace {

std::size_t wide(int n) { return static_cast<std::size_t>(n); }

// What the parts of the ring hand over, and the rows of alpha.
std::size_t parts_bytes(int labels, int parts, std::size_t real) {
  return aligned_bytes(32 * sizeof(double)) + aligned_bytes(4 * sizeof(int)) +
         aligned_bytes(2 * wide(labels) * wide(parts) * sizeof(int)) +
         aligned_bytes(2 * wide(labels) * wide(parts) * kBlock * real) +
         alpha_bytes((labels + 3) / 4 * 4, real);
}

// 168 registers a thread leave room for twelve warps; fewer than six do not hide the recursion's latency, and
// then the warps of a block had better share one chunk.
constexpr int kMostWarps = 12;
constexpr int kFewestWarps = 6;
// 128 registers a thread.
constexpr int kMostBlockWarps = 16;
constexpr int kMostSharedTransitions = 64;

bool warp_teams(int labels, int offsets, int ring_blocks, std::size_t limit, TileConfig* out) {
  if (labels > 32) return false;
  out->group = labels <= 4 ? 4 : (labels <= 8 ? 8 : (labels <= 16 ? 16 : 32));
  out->rows = out->group < 32 ? out->group : (labels <= 24 ? 24 : 32);
  out->table_width = out->group < 32 ? out->group : out->rows;
  const int ring_width = out->group < 32 ? 32 : out->rows;
  const int groups = 32 / out->group;
  const std::size_t tables = table_bytes(offsets, out->table_width, sizeof(float));
  const std::size_t warp =
      ring_bytes(ring_blocks, ring_width, sizeof(float)) + alpha_bytes(groups * out->rows, sizeof(float));
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
  config.warps = config.panels;
  // Helpers sum up parts of all but the newest block of the ring, each a few.
  int lanes = 32;
  while (config.panels == 1 && lanes / 2 >= labels) lanes /= 2;
  const int per_warp = 32 / lanes;
  int helpers = offsets <= 8 ? 0 : std::min(kMostBlockWarps / config.panels - 1, offsets / (2 * per_warp));
  const std::size_t transitions =
      labels <= kMostSharedTransitions ? aligned_bytes(wide(labels) * wide(labels) * real_bytes) : 0;
  config.transitions_in_shared = transitions > 0;
  const std::size_t ring = ring_bytes(ring_blocks, labels, real_bytes);
  const std::size_t table = table_bytes(offsets, labels, real_bytes);
  const auto least = [&] { return parts_bytes(labels, helpers, real_bytes) + transitions; };
  while (helpers > 0 && least() > shared_limit) --helpers;
  // The recursion of one block waits most of the time: others on the same multiprocessor fill it, as many as
  // have registers and a ring in shared memory. The table is only read, and the same for all of them: the
  // cache may have it.
  int resident = kMostBlockWarps / (config.panels * (1 + helpers));
  if (resident < 2 && helpers > 1 && 2 * (least() + ring) <= shared_limit) {
    helpers = (helpers - 1) / 2;
    resident = 2;
  }
  resident = std::max(resident, 1);
  while (resident > 1 && wide(resident) * (least() + ring) > shared_limit) --resident;
  const std::size_t limit = shared_limit / wide(resident);
  config.parts = helpers;
  config.warps = config.panels * (1 + helpers);
  std::size_t bytes = least();
  config.ring_in_shared = bytes + ring <= limit;
  if (config.ring_in_shared) bytes += ring;
  config.table_in_shared = bytes + table <= limit;
  if (config.table_in_shared) bytes += table;
  config.shared_bytes = bytes;
  return config;
}

TileConfig spread(const TileConfig& tile, std::size_t tasks, int multiprocessors) {
  TileConfig config = tile;
  if (tile.block_team) return config;
  const std::size_t groups = wide(tile.teams_per_block / tile.warps);
  const std::size_t warps = (tasks + groups - 1) / groups;
  const std::size_t each = (warps + wide(multiprocessors) - 1) / wide(multiprocessors);
  config.warps = static_cast<int>(std::clamp<std::size_t>(each, 1, wide(tile.warps)));
  config.teams_per_block = config.warps * static_cast<int>(groups);
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
