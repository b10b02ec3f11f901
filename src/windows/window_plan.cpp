#include "windows/window_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/error.h"
#include "core/text/text.h"
#include "engine/device_memory.h"

namespace semicrf {
namespace {

std::string mebibytes(std::size_t bytes) {
  return formatted("%.1f MiB", static_cast<double>(bytes) / 1048576.0);
}

// What a window takes of the host's and of the engine's own memory.
struct Taken {
  std::size_t host = 0, device = 0, usual = 0;
};

std::size_t window_bytes(const WindowNeeds& needs, std::int64_t positions, std::int64_t halos) {
  return needs.engine_bytes(positions) + needs.score_bytes * static_cast<std::size_t>(positions + halos) +
         needs.output_bytes * static_cast<std::size_t>(positions);
}

std::size_t usual_window_bytes(const WindowNeeds& needs, std::int64_t positions, std::int64_t halos) {
  const std::size_t engine =
      needs.usual_engine_bytes ? needs.usual_engine_bytes(positions) : needs.engine_bytes(positions);
  return engine + needs.score_bytes * static_cast<std::size_t>(positions + halos) +
         (needs.usual_output_bytes.value_or(needs.output_bytes) + (halos > 0 ? needs.usual_spool_bytes : 0)) *
             static_cast<std::size_t>(positions);
}

[[noreturn]] void refuse(const WindowNeeds& needs, const Taken& smallest, std::size_t budget) {
  if (smallest.host > budget) {
    throw MemoryError({"", "",
                       "the smallest window needs " + mebibytes(smallest.host) + " and " + mebibytes(budget) +
                           " are available for windows",
                       "raise --max-memory"});
  }
  throw MemoryError({"", "",
                     "the smallest window needs " + mebibytes(smallest.device) + " of GPU memory and " +
                         mebibytes(needs.device_budget) + " are available",
                     "raise --max-memory, free the GPU, or use --device cpu"});
}

}  // namespace

void take_device_needs(const Engine& engine, const ScoreSource& source, WindowNeeds& needs,
                       std::size_t (*bytes)(const DeviceMemory&, const WindowShape&)) {
  const DeviceMemory* const memory = engine.own_memory();
  if (memory == nullptr) return;
  needs.device_budget = memory->device_memory();
  needs.device_bytes = [bytes, memory, length = source.length(), per_position = source.score_bytes()](
                           std::int64_t positions, std::int64_t read) {
    return bytes(*memory, {length, positions, std::min(length, read), per_position});
  };
}

WindowNeeds log_needs(const Engine& engine, const ScoreSource& source, bool counts) {
  WindowNeeds needs;
  // The sums themselves do not grow with the window.
  const std::size_t sums = counts ? expected_counts_bytes(engine.model()) : 0;
  needs.engine_bytes = [&engine, counts, sums](std::int64_t positions) {
    return engine.posterior_bytes(positions, counts) + sums;
  };
  needs.usual_engine_bytes = [&engine, counts, sums](std::int64_t positions) {
    return engine.usual_posterior_bytes(positions, counts) + sums;
  };
  needs.score_bytes = source.bytes_per_position();
  needs.enough_positions = enough_positions(engine.grid(source.length()));
  const auto with_counts = [](const DeviceMemory& device, const WindowShape& shape) {
    return device.posterior_device_bytes(shape, true);
  };
  const auto without = [](const DeviceMemory& device, const WindowShape& shape) {
    return device.posterior_device_bytes(shape, false);
  };
  if (counts) {
    take_device_needs(engine, source, needs, with_counts);
  } else {
    take_device_needs(engine, source, needs, without);
  }
  return needs;
}

PositionRange WindowPlan::range(std::int64_t n) const {
  const std::int64_t before = edges.left > 0 ? 1 : 0, inner_end = length - edges.right;
  if (n < before) return {0, edges.left};
  if (n - before >= inner_count()) return {inner_end, length};
  const std::int64_t begin = edges.left + (n - before) * window;
  return {begin, std::min(inner_end, begin + window)};
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

std::size_t ample_window_bytes(std::int64_t length, const ChunkGrid& grid, const WindowNeeds& needs) {
  constexpr std::size_t kMost = std::size_t{2} << 30;
  constexpr std::int64_t kChunksPerWindow = 16;
  if (needs.device_bytes || grid.chunk >= length) return 0;
  const std::int64_t positions = std::min(length, kChunksPerWindow * grid.chunk);
  return std::min(kMost, window_bytes(needs, positions, 2 * grid.warmup));
}

std::int64_t enough_positions(const ChunkGrid& grid) {
  constexpr std::int64_t kEnoughPositions = 1 << 20;
  constexpr std::int64_t kEnoughChunks = 64;
  // longest chunk of a grid that can cut at all
  constexpr std::int64_t kLongestChunk = std::int64_t{1} << 40;
  return std::max(kEnoughPositions, kEnoughChunks * std::min(grid.chunk, kLongestChunk));
}

EdgeBytes edge_window_bytes(std::int64_t positions, const ChunkGrid& grid, const WindowNeeds& needs) {
  return {window_bytes(needs, positions, 2 * grid.warmup),
          usual_window_bytes(needs, positions, 2 * grid.warmup)};
}

WindowPlan plan_windows(std::int64_t length, const ChunkGrid& grid, const WindowNeeds& needs,
                        std::size_t budget, EdgeLengths edges, EdgeBytes edge_bytes) {
  WindowPlan plan;
  plan.length = length;
  plan.edges = edges;
  const std::int64_t inner = plan.inner_length();
  plan.window = inner;
  plan.budget = budget;
  const auto taken_by = [&](std::int64_t positions, std::int64_t halos) {
    return Taken{edge_bytes.most + window_bytes(needs, positions, halos),
                 needs.device_bytes ? needs.device_bytes(positions, positions + halos) : 0,
                 edge_bytes.usual + usual_window_bytes(needs, positions, halos)};
  };
  const auto take = [&](const Taken& taken) {
    plan.bytes = taken.host;
    plan.device_bytes = taken.device;
    plan.usual_bytes = taken.usual;
  };
  const auto fits_in = [&](const Taken& taken) {
    return taken.host <= budget && taken.device <= needs.device_budget;
  };
  const auto set_halos = [&] {
    plan.left_halo = grid.warmup;
    plan.right_halo = needs.reads_right_halo ? grid.warmup : 0;
  };
  if (edges.any()) set_halos();
  const Taken whole =
      taken_by(inner, (edges.left > 0 ? plan.left_halo : 0) + (edges.right > 0 ? plan.right_halo : 0));
  take(whole);
  const std::int64_t enough = needs.enough_positions == 0 ? length : needs.enough_positions;
  if (fits_in(whole) && inner <= enough) return plan;

  set_halos();
  const std::int64_t halos = plan.left_halo + plan.right_halo;
  const auto of_chunks = [&](std::int64_t chunks) { return taken_by(chunks * grid.chunk, halos); };
  const bool can_cut = grid.chunk < inner;
  if (!can_cut && fits_in(whole)) return plan;
  const Taken smallest = can_cut ? of_chunks(1) : whole;
  if (!fits_in(smallest))
    refuse(needs, {std::min(whole.host, smallest.host), std::min(whole.device, smallest.device)}, budget);
  std::int64_t fits = 1;
  std::int64_t too_many = (std::min(inner, enough) + grid.chunk - 1) / grid.chunk + 1;
  while (too_many - fits > 1) {
    const std::int64_t middle = fits + (too_many - fits) / 2;
    (fits_in(of_chunks(middle)) ? fits : too_many) = middle;
  }
  const auto edges_of = [&](std::int64_t chunks) {
    const std::int64_t window = chunks * grid.chunk;
    const std::int64_t joined = (inner - 1) / window + (edges.right > 0 ? 1 : 0);
    return joined * needs.edge_bytes;
  };
  // Edges may make windows a quarter smaller.
  for (std::int64_t chunks = fits; needs.edge_bytes > 0 && !plan.joined && 4 * chunks >= 3 * fits; --chunks) {
    plan.joined = of_chunks(chunks).host + edges_of(chunks) <= budget;
    if (plan.joined) fits = chunks;
  }
  plan.window = fits * grid.chunk;
  take(of_chunks(fits));
  if (plan.joined) plan.bytes += edges_of(fits);
  return plan;
}

std::string describe(const WindowPlan& plan) {
  const std::string bytes =
      mebibytes(plan.bytes) +
      (plan.device_bytes > 0 ? " and " + mebibytes(plan.device_bytes) + " of the GPU" : "");
  const bool alone = plan.inner_count() == 1;
  std::string text =
      alone ? fmt::format("1 window of {} positions, {}", plan.window, bytes)
            : fmt::format("{} windows of {} positions, {} each", plan.inner_count(), plan.window, bytes);
  if (plan.edges.any())
    text +=
        fmt::format(", with windows at the cuts of {} and {} positions", plan.edges.left, plan.edges.right);
  return text;
}

}  // namespace semicrf
