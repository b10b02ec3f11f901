#include "io/files/temporary_names.h"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "io/files/mapped_regions.h"

namespace semicrf {

struct TemporaryName::Entry {
  explicit Entry(std::string absolute_path) : path(std::move(absolute_path)) {}
  const std::string path;
  std::atomic<bool> active{true};
  Entry* next = nullptr;
};

namespace {

std::atomic<TemporaryName::Entry*> registry{nullptr};
static_assert(std::atomic<TemporaryName::Entry*>::is_always_lock_free &&
                  std::atomic<bool>::is_always_lock_free,
              "the signal handler reads these");

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

// Async-signal-safe: beside the above write and _exit.
extern "C" void end_by_bus_error(int signal_number, siginfo_t* information, void* /*context*/) {
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
    : entry_(new Entry(std::filesystem::absolute(path).string())) {
  entry_->next = registry.load();
  while (!registry.compare_exchange_weak(entry_->next, entry_)) {
  }
}

TemporaryName::TemporaryName(TemporaryName&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}

TemporaryName& TemporaryName::operator=(TemporaryName&& other) noexcept {
  if (this != &other) {
    release();
    entry_ = std::exchange(other.entry_, nullptr);
  }
  return *this;
}

void TemporaryName::release() noexcept {
  if (entry_ != nullptr) entry_->active.store(false);
  entry_ = nullptr;
}

std::span<const int> ending_signals() { return kEndingSignals; }

void remove_temporaries() noexcept {
  for (TemporaryName::Entry* entry = registry.load(); entry != nullptr; entry = entry->next) {
    if (entry->active.load()) unlink(entry->path.c_str());
  }
  // Folders, which are empty now if nothing is to stay in them.
  for (TemporaryName::Entry* entry = registry.load(); entry != nullptr; entry = entry->next) {
    if (entry->active.load()) rmdir(entry->path.c_str());
  }
}

void install_signal_cleanup() {
  for (const int signal_number : kEndingSignals) take_over(signal_number, false);
  for (const int signal_number : kCrashSignals) take_over(signal_number, true);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

}  // namespace semicrf
