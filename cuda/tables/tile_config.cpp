#include "cuda/tables/tile_config.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "core/sizes.h"

namespace semicrf::cuda {
namespace {

// What the parts of the ring hand over, and the rows of alpha.
std::size_t parts_bytes(int labels, int alpha, int parts, std::size_t real) {
  return aligned_bytes(32 * sizeof(double)) + aligned_bytes(4 * sizeof(int)) +
         aligned_bytes(sizeof(int) * 2 * kMostPanels) +
         aligned_bytes(2 * wide(labels) * wide(parts) * sizeof(int)) +
         aligned_bytes(2 * wide(labels) * wide(parts) * kBlock * real) +
         alpha_bytes((alpha + 3) / 4 * 4, real);
}

// Bounds of durations and their spreads.
std::size_t bounds_bytes(int offsets, int width) {
  const std::size_t entries = bound_entries(offsets, width);
  return aligned_bytes(entries * sizeof(int)) + aligned_bytes(entries * sizeof(std::uint16_t));
}

// 168 registers a thread leave room for twelve warps; fewer than six do not hide the recursion's latency, and
// then the warps of a block had better share one chunk.
constexpr int kMostWarps = 12;
constexpr int kFewestWarps = 6;
constexpr int kMostSharedTransitions = 64;
// Nominal: how many teams run at a time decides how long runs are, which must not depend on the card.

WarpLayout warp_layout(int offsets, int ring_blocks, int table_width, int ring_width, int group) {
  std::size_t at = 0;
  const auto slice = [&](std::size_t bytes) {
    const std::size_t begin = at;
    at += aligned_bytes(bytes);
    return static_cast<unsigned>(begin);
  };
  WarpLayout layout;
  slice(bound_entries(offsets, table_width) * sizeof(int));
  layout.spreads = slice(bound_entries(offsets, table_width) * sizeof(std::uint16_t));
  layout.table = slice(distance_entries(offsets, table_width) * sizeof(float));
  layout.near = slice(rolls_boundaries(group) ? kBlock * wide(table_width) * sizeof(float) : 0);
  layout.warps = static_cast<unsigned>(at);
  const std::size_t cells = wide(ring_blocks) * wide(ring_width),
                    starts = rolls_boundaries(group) ? kBlock * wide(ring_width) : 0;
  at = 0;
  slice(cells * sizeof(int));
  layout.numbers = slice(cells * kBlock * sizeof(float));
  layout.start_numbers = slice(starts * sizeof(float));
  layout.start_units = slice(starts * sizeof(int));
  layout.alpha = slice(2 * kAlphaWidth * sizeof(float));
  slice(parks_numbers(group) ? kParkedNumbers * 32 * sizeof(int) : 0);
  layout.each = static_cast<unsigned>(at);
  return layout;
}

bool warp_teams(int labels, int offsets, int ring_blocks, std::size_t limit, TileConfig* out) {
  if (labels > 32) return false;
  out->group = labels <= 4 ? 4 : (labels <= 8 ? 8 : (labels <= 16 ? 16 : 32));
  out->rows = out->group < 32 ? out->group : (labels <= 24 ? 24 : 32);
  out->table_width = out->group < 32 ? out->group : out->rows;
  const int ring_width = out->group < 32 ? 32 : out->rows;
  const int groups = 32 / out->group;
  out->layout = warp_layout(offsets, ring_blocks, out->table_width, ring_width, out->group);
  const std::size_t tables = out->layout.warps, warp = out->layout.each;
  if (tables + kFewestWarps * warp > limit) return false;
  out->warps = static_cast<int>(std::min<std::size_t>(kMostWarps, (limit - tables) / warp));
  out->shared_bytes = tables + wide(out->warps) * warp;
  out->teams_per_block = out->warps * groups;
  out->resident = 1;
  return true;
}

// Teams that share a multiprocessor, and warps that help each of them.
struct Share {
  int teams = 0, helpers = 0;
  double cycles = 0;  // per block of positions
};

// Cycles of a block of positions, roughly: the leading warps take kLatency for it alone (measured on an H200;
// with tails up to twice that), and longer where two of them share a scheduler; each of them issues kLead
// instructions; a distance of the ring takes kFar instructions of a warp, of which a multiprocessor issues
// four at a time and a warp one in three cycles.
Share best_share(int teams, int offsets, int most_warps, const TileConfig& tile,
                 const std::function<bool(int teams, int helpers)>& fits) {
  constexpr double kLatency = 11000, kLead = 2500, kFar = 330, kWait = 3, kShared = 1.4;
  constexpr int kSchedulers = 4;
  const int per_warp = tile.panels == 1 ? 32 / tile.group : 1;
  const double far = kFar * offsets / per_warp;
  Share best;
  for (int helpers = 0; teams * tile.panels * (1 + helpers) <= most_warps; ++helpers) {
    if (2 * helpers * per_warp > offsets || !fits(teams, helpers)) break;
    const double issue = teams * tile.panels * (far + kLead) / 4;
    const double alone = kLatency + (helpers == 0 ? kWait * far : 0);
    const double lead = alone * (teams * tile.panels > kSchedulers && tile.panels == 1 ? kShared : 1);
    const double help = helpers == 0 ? 0 : kWait * far / helpers;
    const double cycles = std::max({issue, lead, help}) / teams;
    if (best.teams == 0 || cycles <= best.cycles) best = {teams, helpers, cycles};
  }
  return best;
}

// As few teams as come near the best, the nearer the more they are: they are ready sooner where there are not
// enough runs for more, and leave more of the cache to each. False: not even one fits.
bool share_out(int offsets, int most_warps, const std::function<bool(int teams, int helpers)>& fits,
               TileConfig* tile) {
  std::vector<Share> shares;
  double least = 0;
  for (int teams = 1; teams * tile->panels <= most_warps; ++teams) {
    const Share share = best_share(teams, offsets, most_warps, *tile, fits);
    if (share.teams == 0) break;
    least = shares.empty() ? share.cycles : std::min(least, share.cycles);
    shares.push_back(share);
  }
  for (const Share& share : shares) {
    const double near = 1 + 0.4 / (share.teams * tile->panels);
    if (share.cycles > near * least) continue;
    tile->resident = share.teams;
    tile->parts = share.helpers;
    return true;
  }
  return false;
}

// Teams of whole warps in blocks of their own; float, up to 64 labels, the ring in shared memory, or its
// scales alone, for which there are kernels of fewer shapes.
bool unrolled_block_teams(int labels, int offsets, int ring_blocks, std::size_t limit, bool ring_in_shared,
                          TileConfig* out) {
  if (labels > 64) return false;
  for (const int rows : {8, 16, 32, 48, 64}) {
    if (!ring_in_shared && (rows == 8 || rows == 48)) continue;
    out->rows = rows;
    if (labels <= rows) break;
  }
  out->group = std::min(out->rows, 32);
  out->transitions_in_shared = out->table_in_shared = false;
  out->ring_in_shared = ring_in_shared;
  const std::size_t ring = ring_in_shared ? ring_bytes(ring_blocks, labels, sizeof(float))
                                          : aligned_bytes(wide(ring_blocks) * wide(labels) * sizeof(int));
  const std::size_t bounds = bounds_bytes(offsets, labels);
  const auto bytes = [&](int helpers) {
    return parts_bytes(labels, out->rows, helpers, sizeof(float)) + starts_bytes(labels) + bounds;
  };
  const auto fits = [&](int teams, int helpers) { return wide(teams) * (bytes(helpers) + ring) <= limit; };
  if (!share_out(offsets, block_threads(out->rows) / 32, fits, out)) return false;
  out->shared_bytes = bytes(out->parts) + ring;
  return true;
}

}  // namespace

TileConfig choose_tile(int labels, int max_duration, std::size_t real_bytes, std::size_t shared_limit,
                       bool cut_right) {
  const int offsets = (max_duration + kBlock - 2) / kBlock;
  const int ring_blocks = ring_blocks_for(max_duration, cut_right);
  TileConfig config;
  if (real_bytes == sizeof(float) && warp_teams(labels, offsets, ring_blocks, shared_limit, &config))
    return config;
  config = TileConfig();
  config.block_team = true;
  config.table_width = labels;
  config.panels = (labels + 31) / 32;
  for (const bool ring_in_shared : {true, false}) {
    if (real_bytes != sizeof(float)) break;
    if (!unrolled_block_teams(labels, offsets, ring_blocks, shared_limit, ring_in_shared, &config)) continue;
    config.warps = config.panels * (1 + config.parts);
    return config;
  }
  config.rows = 0;
  config.transitions_in_shared = labels <= kMostSharedTransitions;
  while (config.panels == 1 && config.group / 2 >= labels) config.group /= 2;
  const std::size_t ring = ring_bytes(ring_blocks, labels, real_bytes);
  const std::size_t table =
      bounds_bytes(offsets, labels) + aligned_bytes(group_entries(offsets, labels) * real_bytes);
  const std::size_t transitions =
      config.transitions_in_shared ? aligned_bytes(wide(labels) * wide(labels) * real_bytes) : 0;
  const auto bytes = [&](int helpers) {
    return parts_bytes(labels, labels, helpers, real_bytes) + transitions;
  };
  const int warps = block_threads(0) / 32;
  const auto fits = [&](std::size_t ring_here) {
    return [&, ring_here](int teams, int helpers) {
      return wide(teams) * (bytes(helpers) + ring_here) <= shared_limit;
    };
  };
  config.ring_in_shared = share_out(offsets, warps, fits(ring), &config);
  if (!config.ring_in_shared) share_out(offsets, warps, fits(0), &config);
  config.warps = config.panels * (1 + config.parts);
  config.shared_bytes = bytes(config.parts) + (config.ring_in_shared ? ring : 0);
  config.table_in_shared = wide(config.resident) * (config.shared_bytes + table) <= shared_limit;
  if (config.table_in_shared) config.shared_bytes += table;
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
  // What is repaired should be short; but every run leaves two states.
  grid.run = std::max<std::int64_t>(6 * grid.unit, 4096);
  return grid;
}

std::int64_t run_warmup(const RunGrid& grid, std::size_t real_bytes) {
  return real_bytes == sizeof(float) ? 3 * grid.unit : grid.warmup;
}

Teams teams_of(const TileConfig& tile, int multiprocessors) {
  const int at_once = multiprocessors * tile.resident * tile.teams_per_block;
  if (tile.block_team) return {at_once, at_once};
  return {at_once, std::min(at_once, 4 * multiprocessors * (tile.teams_per_block / tile.warps))};
}

namespace {

// Positions that the longest way of a team goes through, its warm-up with it, where a queue has `queue` of
// them.
std::int64_t longest_way(std::int64_t length, std::int64_t queue, std::int64_t warmup) {
  const std::int64_t last = (length - 1) / queue * queue;  // where the last queue begins
  const auto way = [&](std::int64_t begin, std::int64_t end) {
    return end - std::max<std::int64_t>(0, begin - warmup);
  };
  return last == 0 ? length : std::max(way(last, length), way(last - queue, last));
}

std::int64_t whole_blocks(std::int64_t positions) {
  return ceil_div<std::int64_t>(positions, kBlock) * kBlock;
}

// Into so many queues, about; the shortest that cover the positions.
RunCut cut_into(const RunGrid& grid, std::int64_t positions, std::int64_t queues) {
  const std::int64_t share = std::max(ceil_div(positions, queues), grid.unit);
  RunCut cut;
  cut.queue = static_cast<int>(std::max<std::int64_t>(1, (share + grid.run / 2) / grid.run));
  const std::int64_t run = ceil_div<std::int64_t>(share, cut.queue);
  const std::int64_t marks = ceil_div(run, grid.warmup);
  cut.mark = whole_blocks(ceil_div(run, marks));
  cut.run = cut.mark * marks;
  const std::int64_t queue = cut.queue_positions();
  cut.chunk = queue * std::max<std::int64_t>(1, grid.chunk / queue);
  return cut;
}

}  // namespace

RunCut cut_into_runs(const RunGrid& grid, std::int64_t length, Teams teams) {
  // A longer sequence comes in windows of about this size.
  constexpr std::int64_t kWindow = std::int64_t{20} << 20;
  constexpr std::int64_t kLongest = 4;  // chunks in a queue
  const std::int64_t together = std::clamp<std::int64_t>(length, 1, kWindow);
  const std::int64_t alone = teams.alone, at_once = teams.at_once;
  const auto time_of = [&](const RunCut& cut) {
    const std::int64_t queue = cut.queue_positions();
    const std::int64_t queues = ceil_div(together, queue);
    // Every further warp that shares a scheduler makes blocks a fifth longer.
    const std::int64_t warps = ceil_div(std::min(queues, at_once), alone);
    return ceil_div(queues, at_once) * longest_way(together, queue, grid.warmup) * (4 + warps);
  };
  const std::int64_t fewest = ceil_div(together, kLongest * grid.chunk);
  const std::int64_t most = std::max(fewest, together / grid.unit);
  // Where more teams take part, as many queues as there are teams; the longest first.
  const auto next = [&](std::int64_t queues) {
    if (queues < alone) return queues + 1;
    return queues < at_once ? std::min(queues / alone * alone + alone, at_once)
                            : queues / at_once * at_once + at_once;
  };
  struct Timed {
    RunCut cut;
    std::int64_t time;
  };
  std::vector<Timed> cuts;
  for (std::int64_t queues = fewest; queues <= most; queues = next(queues)) {
    const RunCut cut = cut_into(grid, together, queues);
    cuts.push_back({cut, time_of(cut)});
  }
  const auto least = std::min_element(cuts.begin(), cuts.end(),
                                      [](const Timed& a, const Timed& b) { return a.time < b.time; });
  // Where teams have multiprocessors to themselves, a few more queues than have room would all take twice
  // as long.
  const bool share_a_card = teams.alone == teams.at_once && leaves_room(grid, length, teams);
  if (!is_short(grid, length, teams) && !share_a_card) return least->cut;
  // One of many that run side by side: fewer warm-ups are worth a longer way.
  return std::find_if(cuts.begin(), cuts.end(),
                      [&](const Timed& timed) { return timed.time * 10 <= least->time * 13; })
      ->cut;
}

namespace {

// Whether the shortest runs of so many sequences of this length run at a time.
bool fit(std::int64_t sequences, const RunGrid& grid, std::int64_t length, Teams teams) {
  return length <= grid.unit || ceil_div(length, grid.unit) * sequences <= teams.at_once;
}

}  // namespace

bool is_short(const RunGrid& grid, std::int64_t length, Teams teams) { return fit(8, grid, length, teams); }
bool leaves_room(const RunGrid& grid, std::int64_t length, Teams teams) {
  return fit(3, grid, length, teams);
}

}  // namespace semicrf::cuda
