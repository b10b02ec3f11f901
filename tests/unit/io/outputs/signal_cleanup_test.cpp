#include "io/files/signal_cleanup.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <filesystem>
#include <thread>
#include <vector>

#include "io/files/mapped_file.h"
#include "io/files/output_file.h"
#include "support/catch.h"
#include "support/child_process.h"
#include "support/temp_folder.h"

namespace semicrf {
namespace {

using test::TempFolder;
using Names = std::vector<std::string>;

// Ends a child by `signal_number` in the middle of two outputs; returns its wait status.
int interrupted_child(const TempFolder& folder, int signal_number) {
  return test::run_in_child([&] {
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
      signal(number, SIG_DFL);  // whatever the test runner set
    install_signal_cleanup();
    OutputFile finished({folder / "finished"});
    finished.write("complete\n");
    finished.commit();
    OutputFile first({folder / "first"});
    OutputFile second({folder / "second.gz"});
    first.write("half of it");
    if (folder.names().size() != 3) return 1;
    kill(getpid(), signal_number);
    for (;;) pause();
  });
}

TEST_CASE("a signal removes the temporaries and ends the process as that signal") {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const TempFolder folder;
    const int status = interrupted_child(folder, signal_number);
    REQUIRE(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal_number);
    CHECK(folder.names() == Names{"finished"});
  }
}

TEST_CASE("a signal taken by another thread cleans up too") {
  const TempFolder folder;
  const int status = test::run_in_child([&] {
    signal(SIGTERM, SIG_DFL);
    install_signal_cleanup();
    OutputFile output({folder / "out"});
    std::thread other([] { raise(SIGTERM); });
    other.join();
    return 0;
  });
  REQUIRE(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGTERM);
  CHECK(folder.names().empty());
}

TEST_CASE("a signal that was ignored stays ignored") {
  CHECK(test::exit_code_in_child([] {
          signal(SIGHUP, SIG_IGN);
          install_signal_cleanup();
          raise(SIGHUP);
          raise(SIGPIPE);
          raise(SIGXFSZ);
          return 7;
        }) == 7);
}

TEST_CASE("threads that meet lost pages at the same time give one line") {
  struct sigaction before = {};
  sigaction(SIGBUS, nullptr, &before);
  if (before.sa_handler != SIG_DFL) return;  // a sanitizer's, which stays
  const TempFolder folder;
  const std::string path = folder / "shrinks";
  constexpr std::size_t kThreads = 8, kPage = 4096;
  for (int round = 0; round < 20; ++round) {
    {
      OutputFile file({path});
      file.write(std::string(kThreads * kPage, 'x'));
      file.commit();
    }
    std::array<int, 2> pipe_ends{};
    REQUIRE(pipe(pipe_ends.data()) == 0);
    const int status = test::run_in_child([&] {
      dup2(pipe_ends[1], STDERR_FILENO);
      install_signal_cleanup();
      const MappedFile mapped(path);
      std::filesystem::resize_file(path, 0);
      std::barrier together(kThreads);
      std::vector<std::thread> threads;
      for (std::size_t i = 0; i < kThreads; ++i)
        threads.emplace_back([&, i] {
          together.arrive_and_wait();
          const volatile std::uint8_t* const byte = &mapped.bytes()[i * kPage];
          static_cast<void>(*byte);
        });
      for (std::thread& thread : threads) thread.join();
      return 0;
    });
    close(pipe_ends[1]);
    std::array<char, 8192> told{};
    const ssize_t size = read(pipe_ends[0], told.data(), told.size());
    close(pipe_ends[0]);
    CHECK(WEXITSTATUS(status) == 4);
    CHECK(std::count(told.data(), told.data() + size, '\n') == 1);
  }
}

}  // namespace
}  // namespace semicrf
