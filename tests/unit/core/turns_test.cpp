#include "core/threads/turns.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "core/threads/parallel.h"
#include "support/catch.h"

using namespace semicrf;

TEST_CASE("work is done in the order of its numbers, by whichever thread") {
  for (const Turns::Thread thread : {Turns::Thread::kCaller, Turns::Thread::kOwn}) {
    for (const std::size_t most_pending : {1u, 3u, 100u}) {
      Turns turns(most_pending, thread);
      std::vector<std::int64_t> done;  // by one thread at a time
      parallel_for(4, 100, [&](std::size_t i, int) {
        const auto number = static_cast<std::int64_t>(i);
        const auto work = [&done, number] { done.push_back(number); };
        if (i % 3 == 0) turns.wait_for(number);
        if (i % 5 == 0) {
          turns.do_now(number, work);
        } else {
          turns.submit(number, work);
        }
      });
      turns.finish();
      REQUIRE(done.size() == 100);
      for (std::size_t i = 0; i < done.size(); ++i) CHECK(done[i] == static_cast<std::int64_t>(i));
    }
  }
}

TEST_CASE("the error of the smallest number ends the turns") {
  for (const Turns::Thread thread : {Turns::Thread::kCaller, Turns::Thread::kOwn}) {
    Turns turns(2, thread);
    int done = 0;
    const auto hand_in = [&](std::size_t i, int) {
      turns.submit(static_cast<std::int64_t>(i), [&done, i] {
        if (i == 20 || i == 30) throw std::runtime_error(std::to_string(i));
        ++done;
      });
    };
    CHECK_THROWS_AS(parallel_for(3, 100, hand_in), Turns::Cancelled);
    try {
      turns.finish();
      FAIL("no error");
    } catch (const std::runtime_error& error) {
      CHECK(std::string(error.what()) == "20");
    }
    CHECK(done == 20);
  }
}
