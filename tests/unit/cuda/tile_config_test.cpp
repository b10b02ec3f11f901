// Shapes of the CUDA kernels: what fits, and what must never change.
#include "cuda/tables/tile_config.h"

#include "support/catch.h"

using namespace semicrf::cuda;

TEST_CASE("every model gets a shape that fits into shared memory") {
  for (const std::size_t limit : {std::size_t(64) << 10, std::size_t(99) << 10, std::size_t(227) << 10}) {
    for (const std::size_t real : {sizeof(float), sizeof(double)}) {
      for (const int labels : {1, 2, 7, 8, 9, 16, 17, 24, 25, 32, 33, 64, 100, 256}) {
        for (const int duration : {1, 2, 15, 16, 17, 100, 400, 1000, 4096, 30000}) {
          INFO("C=" << labels << " K=" << duration << " limit=" << limit << " real=" << real);
          const TileConfig tile = choose_tile(labels, duration, real, limit);
          CHECK(tile.shared_bytes <= limit);
          CHECK(tile.warps >= 1);
          CHECK(tile.warps <= 16);
          CHECK(tile.table_width >= labels);
          if (tile.block_team) {
            CHECK(tile.panels * 32 >= labels);
            CHECK((tile.rows == 0 || tile.rows >= labels));
            CHECK((tile.rows == 0 || real == sizeof(float)));
            CHECK((tile.rows == 0 || tile.ring_in_shared));
            CHECK(tile.warps * 32 <= block_threads(tile.rows));
            CHECK(tile.resident >= 1);
            CHECK(static_cast<std::size_t>(tile.resident) * tile.shared_bytes <= limit);
            CHECK(tile.parts >= 0);
            CHECK(tile.parts <= (duration + 15) / 16);
            CHECK(tile.warps == tile.panels * (1 + tile.parts));
          } else {
            CHECK(tile.rows >= labels);
            CHECK(tile.group >= labels);
            CHECK(tile.teams_per_block == tile.warps * (32 / tile.group));
            const TileConfig few = spread(tile, 100, 132);
            CHECK(few.warps == 1);
            CHECK(few.teams_per_block == 32 / tile.group);
            CHECK(spread(tile, 1000000, 132).warps == tile.warps);
          }
        }
      }
    }
  }
}

TEST_CASE("short sequences are cut little, so that many of them fill a card") {
  // Six labels, K = 2000: 4000 positions warm up for 16,000.
  const RunGrid long_durations = run_grid(2000);
  CHECK(is_short(long_durations, 50'000, {264, 264}));
  CHECK(run_length(long_durations, 50'000, {264, 264}) == 8000);
  CHECK_FALSE(is_short(long_durations, 1'600'000, {264, 264}));
  CHECK(run_length(long_durations, 1'600'000, {264, 264}) == 6400);
  CHECK_FALSE(is_short(long_durations, 350'000, {264, 264}));
  CHECK(leaves_room(long_durations, 350'000, {264, 264}));
  CHECK(run_length(long_durations, 350'000, {264, 264}) == 8000);
  CHECK_FALSE(leaves_room(long_durations, 360'000, {264, 264}));
  // Where the warm-up reaches the beginning anyway, one run is as quick as several.
  CHECK(run_length(run_grid(8000), 50'000, {132, 132}) >= 50'000);
  CHECK(run_length(run_grid(30), 300, {132, 132}) >= 300);
  CHECK(is_short(run_grid(30), 64, {1, 1}));
  CHECK(is_short(run_grid(30), 0, {1, 1}));
}

// Six labels, K = 200: 512 positions per run instead of 400, as 625 warps would share 528 schedulers.
TEST_CASE("runs are as many as have a scheduler to themselves") {
  const TileConfig tile = choose_tile(6, 200, sizeof(float), 227 * 1024);
  CHECK(teams_of(tile).alone == 4 * 528);
  CHECK(run_length(run_grid(200), 1'000'000, teams_of(tile)) == 512);
}

TEST_CASE("runs tile the chunk grid, long enough and aligned") {
  for (const int duration : {1, 2, 16, 31, 32, 33, 100, 200, 1000, 30000}) {
    const RunGrid grid = run_grid(duration);
    INFO("K=" << duration);
    CHECK(grid.unit % 16 == 0);
    CHECK(grid.warmup >= 8 * duration);
    CHECK(grid.warmup % grid.unit == 0);
    CHECK(grid.chunk >= 8192);
    CHECK(grid.chunk % grid.warmup == 0);
    for (const std::int64_t length : {1L, 1000L, 100000L, 20000000L, 3000000000L}) {
      for (const int teams : {1, 132, 300, 1584, 12672}) {
        const std::int64_t run = run_length(grid, length, {teams, (teams + 2) / 3});
        CHECK(run >= grid.unit);
        CHECK(run % 16 == 0);
        CHECK(grid.chunk % run == 0);
        // Marks of posteriors, at most a warm-up apart, lie on the edges of runs.
        CHECK((run % grid.warmup == 0 || run < grid.warmup));
      }
    }
  }
}
