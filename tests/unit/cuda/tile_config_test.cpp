// Shapes of the CUDA kernels: what fits, and what must never change.
#include "cuda/tables/tile_config.h"

#include <tuple>

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

TEST_CASE("a ring that shared memory has no room for leaves a kernel unrolled") {
  const std::size_t limit = std::size_t{227} << 10;
  for (const auto& [labels, duration, rows] : {std::tuple{24, 4096, 32}, {9, 8000, 16}, {64, 1024, 64}}) {
    const TileConfig tile = choose_tile(labels, duration, sizeof(float), limit);
    CHECK(tile.block_team);
    CHECK(tile.rows == rows);
    CHECK_FALSE(tile.ring_in_shared);
    CHECK(tile.parts > 0);
  }
  CHECK(choose_tile(64, 256, sizeof(float), limit).ring_in_shared);
  CHECK(choose_tile(64, 30000, sizeof(float), limit).rows == 0);  // not even its scales
  CHECK(choose_tile(64, 1024, sizeof(double), limit).rows == 0);
}

TEST_CASE("short sequences are cut little, so that many of them fill a card") {
  // Six labels, K = 2000: runs of 4000 positions warm up for 16,000.
  const RunGrid long_durations = run_grid(2000);
  CHECK(is_short(long_durations, 50'000, {264, 264}));
  CHECK(cut_into_runs(long_durations, 50'000, {264, 264}).run == 10'000);
  CHECK_FALSE(is_short(long_durations, 1'600'000, {264, 264}));
  CHECK(cut_into_runs(long_durations, 1'600'000, {264, 264}).run == 6064);
  CHECK_FALSE(is_short(long_durations, 350'000, {264, 264}));
  CHECK(leaves_room(long_durations, 350'000, {264, 264}));
  CHECK(cut_into_runs(long_durations, 350'000, {264, 264}).run >= 8000);
  CHECK_FALSE(leaves_room(long_durations, 360'000, {264, 264}));
  // Where the warm-up reaches the beginning anyway, one run is as quick as several.
  CHECK(cut_into_runs(run_grid(8000), 50'000, {132, 132}).run >= 50'000);
  CHECK(cut_into_runs(run_grid(30), 300, {132, 132}).run >= 300);
  CHECK(is_short(run_grid(30), 64, {1, 1}));
  CHECK(is_short(run_grid(30), 0, {1, 1}));
}

// Six labels, K = 200: 480 positions per run instead of 400, as 625 warps would share 528 schedulers.
TEST_CASE("runs are as many as have a scheduler to themselves") {
  const TileConfig tile = choose_tile(6, 200, sizeof(float), std::size_t{227} * 1024);
  CHECK(teams_of(tile).alone == 4 * 528);
  CHECK(cut_into_runs(run_grid(200), 1'000'000, teams_of(tile)).run == 480);
}

// Else some teams would warm up for a second run while others have none.
TEST_CASE("a long sequence has a queue for every team that runs at a time") {
  for (const auto& [labels, duration] : {std::pair{10, 500}, {24, 100}, {5, 100}, {8, 2463}, {6, 200}}) {
    const RunGrid grid = run_grid(duration);
    const Teams teams = teams_of(choose_tile(labels, duration, sizeof(float), std::size_t{227} * 1024));
    for (const std::int64_t length : {10'000'000L, 13'000'000L, 20'000'000L, 20'971'520L}) {
      INFO("C=" << labels << " K=" << duration << " T=" << length);
      const RunCut cut = cut_into_runs(grid, length, teams);
      const std::int64_t queues = (length - 1) / cut.queue_positions() + 1;
      CHECK(queues <= teams.at_once);
      CHECK(queues * 10 >= static_cast<std::int64_t>(teams.at_once) * 9);
      CHECK(cut.run <= 2 * grid.run);
    }
  }
}

TEST_CASE("whole queues make a chunk, and whole marks a run, long enough and aligned") {
  for (const int duration : {1, 2, 16, 31, 32, 33, 100, 200, 1000, 30000}) {
    const RunGrid grid = run_grid(duration);
    INFO("K=" << duration);
    CHECK(grid.unit % 16 == 0);
    CHECK(grid.warmup >= std::int64_t{8} * duration);
    CHECK(grid.warmup % grid.unit == 0);
    CHECK(grid.chunk >= 8192);
    CHECK(grid.chunk % grid.warmup == 0);
    for (const std::int64_t length : {1L, 1000L, 100000L, 20000000L, 3000000000L}) {
      for (const int teams : {1, 132, 300, 1584, 12672}) {
        const RunCut cut = cut_into_runs(grid, length, {teams, (teams + 2) / 3});
        const std::int64_t queue = cut.queue_positions();
        CHECK(cut.run >= grid.unit);
        CHECK(queue <= 4 * grid.chunk + cut.run * cut.queue * 16 / cut.mark);
        CHECK(cut.chunk % queue == 0);
        CHECK(2 * cut.chunk > grid.chunk);
        CHECK(cut.chunk <= std::max(queue, grid.chunk));
        // Marks of posteriors are at most a warm-up apart, but no segment crosses two.
        CHECK(cut.run % cut.mark == 0);
        CHECK(cut.mark % 16 == 0);
        CHECK(cut.mark >= grid.unit);
        CHECK(cut.mark <= grid.warmup);
      }
    }
  }
}
