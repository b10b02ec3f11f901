#include "io/files/signal_cleanup.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/threads/parallel.h"
#include "io/files/file_errors.h"

namespace semicrf {

// Entries are never freed, because a handler on another thread may be reading them.
struct MappedRegion::Entry {
  std::atomic<bool> taken{true};
  std::atomic<std::uintptr_t> begin{0}, end{0};  // both 0: no region
  std::string line;
  Entry* next = nullptr;
};
struct TemporaryName::Entry {
  explicit Entry(std::string absolute_path) : path(std::move(absolute_path)) {}
  const std::string path;
  std::atomic<bool> active{true};
  Entry* next = nullptr;
};

namespace {

std::atomic<MappedRegion::Entry*> mapped_regions{nullptr};
std::atomic<TemporaryName::Entry*> temporary_names{nullptr};
static_assert(std::atomic<std::uintptr_t>::is_always_lock_free &&
                  std::atomic<MappedRegion::Entry*>::is_always_lock_free &&
                  std::atomic<TemporaryName::Entry*>::is_always_lock_free &&
                  std::atomic<bool>::is_always_lock_free,
              "the signal handler reads these");

template <class Entry>
Entry* added(Entry* entry, std::atomic<Entry*>& list) {
  entry->next = list.load();
  while (!list.compare_exchange_weak(entry->next, entry)) {
  }
  return entry;
}

MappedRegion::Entry* free_region() {
  for (MappedRegion::Entry* entry = mapped_regions.load(); entry != nullptr; entry = entry->next) {
    bool taken = false;
    if (entry->taken.compare_exchange_strong(taken, true)) return entry;
  }
  return added(new MappedRegion::Entry(), mapped_regions);
}

}  // namespace

MappedRegion::MappedRegion(const void* data, std::size_t size, const std::string& path) {
  const ReadError error({path, "", "changed while it was being read: it has become shorter",
                         "run again when nothing writes to it"});
  entry_.reset(free_region());
  entry_->line = std::string("semicrf: error: ") + error.what() + "\n";
  const auto begin = reinterpret_cast<std::uintptr_t>(data);
  entry_->begin.store(begin);
  entry_->end.store(begin + size);
}

void MappedRegion::Release::operator()(Entry* entry) const noexcept {
  entry->end.store(0);
  entry->begin.store(0);
  entry->taken.store(false);
}

std::string_view line_of_lost_page(const void* address) noexcept {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (MappedRegion::Entry* entry = mapped_regions.load(); entry != nullptr; entry = entry->next)
    if (at >= entry->begin.load() && at < entry->end.load()) return entry->line;
  return {};
}

namespace {

constexpr auto kEndingSignals = std::to_array<int>({
    SIGINT,
    SIGTERM,
    SIGHUP,
    SIGQUIT,
    SIGUSR1,
    SIGUSR2,
    SIGALRM,
    SIGVTALRM,
    SIGPROF,
    SIGXCPU,
    SIGIO,
#ifdef SIGPWR
    SIGPWR,
#endif
#ifdef SIGSTKFLT
    SIGSTKFLT,
#endif
});
constexpr auto kCrashSignals = std::to_array<int>({SIGSEGV, SIGABRT, SIGFPE, SIGILL, SIGBUS});

// Async-signal-safe: sigaction, raise.
void raise_with_default_action(int signal_number) {
  struct sigaction default_action = {};
  default_action.sa_handler = SIG_DFL;
  sigemptyset(&default_action.sa_mask);
  sigaction(signal_number, &default_action, nullptr);
  raise(signal_number);  // delivered when the handler returns and the signal is unblocked
}

extern "C" void clean_up_and_raise(int signal_number) {
  remove_temporaries();
  raise_with_default_action(signal_number);
}

std::atomic_flag ending_by_bus_error;  // not cleared

// Async-signal-safe: beside the above write, pause and _exit. Several threads may meet lost pages at the same
// time: the first one says so and ends the process, which the others wait for.
extern "C" void end_by_bus_error(int signal_number, siginfo_t* information, void* /*context*/) {
  while (ending_by_bus_error.test_and_set()) pause();
  remove_temporaries();
  if (const std::string_view line = line_of_lost_page(information->si_addr); !line.empty()) {
    if (write(STDERR_FILENO, line.data(), line.size()) < 0) {
      // Nobody to tell.
    }
    _exit(static_cast<int>(ExitCode::kCannotRead));
  }
  raise_with_default_action(signal_number);
}

void take_over(int signal_number, bool only_default) {
  struct sigaction previous = {};
  sigaction(signal_number, nullptr, &previous);
  // Ignored on entry, or taken by a sanitizer.
  if (previous.sa_handler == SIG_IGN || (only_default && previous.sa_handler != SIG_DFL)) return;
  struct sigaction action = {};
  sigfillset(&action.sa_mask);
  if (signal_number == SIGBUS) {
    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = end_by_bus_error;
  } else {
    action.sa_handler = clean_up_and_raise;
  }
  sigaction(signal_number, &action, nullptr);
}

}  // namespace

TemporaryName::TemporaryName(const std::string& path)
    : entry_(added(new Entry(std::filesystem::absolute(path).string()), temporary_names)) {}

void TemporaryName::Release::operator()(Entry* entry) const noexcept { entry->active.store(false); }

std::span<const int> ending_signals() { return kEndingSignals; }

void remove_temporaries() noexcept {
  for (TemporaryName::Entry* entry = temporary_names.load(); entry != nullptr; entry = entry->next) {
    if (entry->active.load()) unlink(entry->path.c_str());
  }
  // Folders, which are empty now if nothing is to stay in them.
  for (TemporaryName::Entry* entry = temporary_names.load(); entry != nullptr; entry = entry->next) {
    if (entry->active.load()) rmdir(entry->path.c_str());
  }
}

void install_signal_cleanup() {
  for (const int signal_number : kEndingSignals) take_over(signal_number, false);
  for (const int signal_number : kCrashSignals) take_over(signal_number, true);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

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
