#include "windows/window_plan.h"

#include "core/error.h"
#include "runs/engine_pool.h"
#include "support/catch.h"

using namespace semicrf;

namespace {

WindowNeeds needs_of(std::size_t per_position) {
  WindowNeeds needs;
  needs.engine_bytes = [=](std::int64_t positions) {
    return 1000 + per_position * static_cast<std::size_t>(positions);
  };
  needs.score_bytes = 4;
  needs.output_bytes = 8;
  needs.reads_right_halo = true;
  return needs;
}

constexpr ChunkGrid kGrid{100, 30, 0};

}  // namespace

TEST_CASE("a sequence that fits is one window without halos") {
  const WindowPlan plan = plan_windows(1234, kGrid, needs_of(8), 1000 + 20 * 1234);
  CHECK(plan.count() == 1);
  CHECK(plan.bytes == 1000 + 20 * 1234);
  CHECK(plan.range(0).end == 1234);
  CHECK(plan.read_range(0).end == 1234);
}

TEST_CASE("windows are whole chunks, tile the sequence and fit") {
  for (const std::size_t budget : {4000u, 5000u, 9000u, 20000u}) {
    const WindowPlan plan = plan_windows(1234, kGrid, needs_of(8), budget);
    CAPTURE(budget, describe(plan));
    CHECK(plan.bytes <= budget);
    CHECK(plan.window % 100 == 0);
    CHECK(1000 + 20 * (plan.window + 100) + std::int64_t{4} * 60 > static_cast<std::int64_t>(budget));
    std::int64_t at = 0;
    for (std::int64_t n = 0; n < plan.count(); ++n) {
      CHECK(plan.range(n).begin == at);
      CHECK(plan.read_range(n).begin == std::max<std::int64_t>(0, at - 30));
      at = plan.range(n).end;
      CHECK(plan.read_range(n).end == std::min<std::int64_t>(1234, at + 30));
    }
    CHECK(at == 1234);
  }
}

TEST_CASE("ample windows have sixteen chunks and at most 2 GiB, and are the host's alone") {
  const WindowNeeds needs = needs_of(8);
  CHECK(ample_window_bytes(10'000, kGrid, needs) == 1000 + 20 * 1600 + 4 * 60);
  CHECK(ample_window_bytes(1234, kGrid, needs) == 1000 + 20 * 1234 + 4 * 60);
  CHECK(ample_window_bytes(100, kGrid, needs) == 0);
  CHECK(ample_window_bytes(10'000, kGrid, needs_of(10 << 20)) == std::size_t{2} << 30);
  WindowNeeds elsewhere = needs;
  elsewhere.device_bytes = [](std::int64_t, std::int64_t) { return std::size_t{1}; };
  CHECK(ample_window_bytes(10'000, kGrid, elsewhere) == 0);
}

TEST_CASE("windows leave room for the edges that join them, where these are small") {
  const auto plan_with = [](std::size_t edge_bytes) {
    WindowNeeds needs = needs_of(8);
    needs.edge_bytes = edge_bytes;
    return plan_windows(10'000, kGrid, needs, 20'000);
  };
  const WindowPlan alone = plan_with(0);
  CHECK_FALSE(alone.joined);
  const WindowPlan joined = plan_with(100);
  CHECK(joined.joined);
  CHECK(joined.bytes <= 20'000);
  CHECK(joined.window < alone.window);
  CHECK(4 * joined.window >= 3 * alone.window);
  const WindowPlan refused = plan_with(2000);
  CHECK_FALSE(refused.joined);
  CHECK(refused.window == alone.window);
  CHECK(refused.bytes == alone.bytes);
}

TEST_CASE("memory for less than one chunk is refused with both figures") {
  CHECK_THROWS_AS(plan_windows(1234, kGrid, needs_of(8), 3000), MemoryError);
  CHECK_THROWS_AS(plan_windows(99, kGrid, needs_of(8), 100), MemoryError);
  try {
    plan_windows(std::int64_t{1} << 30, {std::int64_t{1} << 61, 0, 0}, needs_of(8), std::size_t{1} << 20);
    FAIL("not refused");
  } catch (const MemoryError& error) {
    CHECK(std::string(error.what()).find("20480.0 MiB and 1.0 MiB are available") != std::string::npos);
  }
}

TEST_CASE("windows fit the engine's own memory, too") {
  WindowNeeds needs = needs_of(8);
  std::int64_t halos = -1;
  needs.device_bytes = [&](std::int64_t positions, std::int64_t read) {
    halos = read - positions;
    return 500 + 10 * static_cast<std::size_t>(positions);
  };
  needs.device_budget = 4500;
  const WindowPlan plan = plan_windows(1234, kGrid, needs, 1 << 20);
  CHECK(halos == 60);
  CHECK(plan.window == 400);
  CHECK(plan.device_bytes == 4500);
  CHECK(describe(plan).find("of the GPU") != std::string::npos);
  needs.device_budget = 20000;
  CHECK(plan_windows(1234, kGrid, needs, 1 << 20).count() == 1);
  CHECK(plan_windows(1234, kGrid, needs, 9000).window < 1234);
  needs.device_budget = 1499;
  try {
    plan_windows(1234, kGrid, needs, 1 << 20);
    FAIL("not refused");
  } catch (const MemoryError& error) {
    CHECK(std::string(error.what()).find("0.0 MiB of GPU memory and 0.0 MiB are available") !=
          std::string::npos);
  }
}

TEST_CASE("devices share windows where one piece is more than an equal part of all") {
  const auto pay = [](std::vector<std::int64_t> pieces, std::size_t devices) {
    return windows_pay(pieces, devices);
  };
  CHECK_FALSE(pay({100}, 0));
  CHECK_FALSE(pay({100}, 1));
  CHECK(pay({100}, 2));
  CHECK_FALSE(pay({100, 100}, 2));
  CHECK(pay({100, 99}, 2));
  CHECK(pay({40, 30, 30}, 3));
  CHECK_FALSE(pay({}, 2));
}
