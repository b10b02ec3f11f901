#include "io/files/temporary_names.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <initializer_list>
#include <utility>

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

// Async-signal-safe: loads of lock-free atomics, unlink, rmdir, sigaction, raise.
extern "C" void remove_temporaries_and_raise(int signal_number) {
  for (TemporaryName::Entry* entry = registry.load(); entry != nullptr; entry = entry->next) {
    if (entry->active.load()) unlink(entry->path.c_str());
  }
  // Folders, which are empty now if nothing is to stay in them.
  for (TemporaryName::Entry* entry = registry.load(); entry != nullptr; entry = entry->next) {
    if (entry->active.load()) rmdir(entry->path.c_str());
  }
  struct sigaction default_action = {};
  default_action.sa_handler = SIG_DFL;
  sigemptyset(&default_action.sa_mask);
  sigaction(signal_number, &default_action, nullptr);
  raise(signal_number);  // delivered when the handler returns and the signal is unblocked
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

void install_signal_cleanup() {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction previous = {};
    sigaction(signal_number, nullptr, &previous);
    if (previous.sa_handler == SIG_IGN) continue;
    struct sigaction action = {};
    action.sa_handler = remove_temporaries_and_raise;
    sigfillset(&action.sa_mask);
    sigaction(signal_number, &action, nullptr);
  }
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
}

}  // namespace semicrf
