#include "io/files/signal_watch.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/threads/start_thread.h"
#include "io/files/file_errors.h"
#include "io/files/temporary_names.h"

namespace semicrf {
namespace {

constexpr unsigned char kQuit = 0;  // no signal has this number

std::atomic<int> write_end{-1};
std::vector<struct sigaction> previous_actions;
static_assert(std::atomic<int>::is_always_lock_free, "the signal handler reads it");

// Async-signal-safe: a load of a lock-free atomic, write.
extern "C" void pass_on(int signal_number) {
  const int error = errno;
  const auto number = static_cast<unsigned char>(signal_number);
  if (::write(write_end.load(), &number, 1) < 0) {
    // The pipe is full: a signal waits in it already.
  }
  errno = error;
}

void restore_actions() {
  for (std::size_t i = 0; i < previous_actions.size(); ++i)
    sigaction(ending_signals()[i], &previous_actions[i], nullptr);
}

}  // namespace

SignalWatch::SignalWatch(std::function<void()> before_end) : before_end_(std::move(before_end)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw read_error("a pipe for signals", "cannot be made", errno);
  read_end_ = ends[0];
  write_end.store(ends[1]);
  thread_ = start_thread([this] { watch(); });
  if (!thread_.joinable()) return;  // a signal ends the program as without a watch
  previous_actions.resize(ending_signals().size());
  for (std::size_t i = 0; i < previous_actions.size(); ++i) {
    sigaction(ending_signals()[i], nullptr, &previous_actions[i]);
    if (previous_actions[i].sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = pass_on;
    action.sa_flags = SA_RESTART;
    sigfillset(&action.sa_mask);
    sigaction(ending_signals()[i], &action, nullptr);
  }
}

SignalWatch::~SignalWatch() {
  restore_actions();
  const unsigned char quit = kQuit;
  while (::write(write_end.load(), &quit, 1) < 0 && errno == EINTR) {
  }
  if (thread_.joinable()) thread_.join();
  previous_actions.clear();
  ::close(write_end.exchange(-1));
  ::close(read_end_);
}

void SignalWatch::watch() {
  unsigned char number = kQuit;
  while (::read(read_end_, &number, 1) < 0 && errno == EINTR) {
  }
  if (number == kQuit) return;
  restore_actions();
  before_end_();
  ::kill(::getpid(), number);
}

}  // namespace semicrf
