#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/threads/parallel.h"
#include "support/catch.h"

using namespace semicrf;

namespace {

// What check() says in a child process in which the system refuses threads: their stacks have no room.
bool where_threads_are_refused(bool (*check)()) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    constexpr std::size_t kStack = std::size_t{1} << 47;  // more than a process can address
    pthread_attr_t attributes;
    const bool refused = pthread_attr_init(&attributes) == 0 &&
                         pthread_attr_setstacksize(&attributes, kStack) == 0 &&
                         pthread_setattr_default_np(&attributes) == 0 && !start_thread([] {}).joinable();
    constexpr unsigned kSeconds = 10;
    alarm(kSeconds);  // of waiting for oneself
    _exit(refused && check() ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

TEST_CASE("work beside the caller is done without a thread where there is none") {
  CHECK(do_beside([] { return 3; }).get() == 3);
  CHECK(where_threads_are_refused([] { return do_beside([] { return 3; }).get() == 3; }));
}

TEST_CASE("work that waits for what its caller does next is done later where there is no thread") {
  static constexpr auto both = [] {
    std::promise<int> first;
    std::future<int> second = do_beside_or_later([&] { return first.get_future().get() + 1; });
    first.set_value(4);
    return second.get() == 5;
  };
  CHECK(both());
  CHECK(where_threads_are_refused([] { return both(); }));
}
