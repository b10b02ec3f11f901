#include <atomic>
#include <stdexcept>
#include <vector>

#include "core/threads/parallel.h"
#include "support/catch.h"

using namespace semicrf;

TEST_CASE("every iteration runs once") {
  for (const int threads : {1, 2, 5}) {
    std::vector<std::atomic<int>> runs(100);
    std::atomic<bool> workers_in_range{true};
    parallel_for(threads, runs.size(), [&](std::size_t i, int worker) {
      ++runs[i];
      if (worker < 0 || worker >= threads) workers_in_range = false;
    });
    CHECK(workers_in_range);
    for (const std::atomic<int>& count : runs) CHECK(count == 1);
  }
  parallel_for(3, 0, [](std::size_t, int) { FAIL("nothing to do"); });
}

TEST_CASE("the first error is thrown again") {
  for (const int threads : {1, 3})
    CHECK_THROWS_WITH(parallel_for(threads, 50,
                                   [](std::size_t i, int) {
                                     if (i >= 3) throw std::runtime_error(std::to_string(i));
                                   }),
                      "3");
}
