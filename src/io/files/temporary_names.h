// The temporary files and new folders of this process, and their removal when a signal ends it.
//
// Every file that is going to be renamed or removed is registered here while it exists, so that a signal
// handler, which may do next to nothing, can unlink them all.
#pragma once

#include <span>
#include <string>

namespace semicrf {

// Registers a path for as long as the object lives. The entry itself is never freed: a handler on another
// thread may be reading it (a process has a handful of them).
class TemporaryName {
 public:
  TemporaryName() = default;
  explicit TemporaryName(const std::string& path);
  TemporaryName(TemporaryName&& other) noexcept;
  TemporaryName& operator=(TemporaryName&& other) noexcept;
  ~TemporaryName() { release(); }

  // Forgets the path: the file was renamed or removed.
  void release() noexcept;

  struct Entry;

 private:
  Entry* entry_ = nullptr;
};

// The signals by which people, shells and schedulers end a program: SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU
// and so on.
std::span<const int> ending_signals();

// Removes what is registered, folders only where they are empty. Async-signal-safe.
void remove_temporaries() noexcept;

// ending_signals(), and those of a crash (SIGSEGV, SIGABRT): remove what is registered, restore the default
// action and raise the signal again, so that the exit status tells the signal (130, 143, 129 in shells). A
// signal that was ignored on entry (nohup, background jobs) stays ignored. SIGBUS in a file that has become
// shorter while it was mapped (io/files/mapped_regions) is an error of that file: exit code 4. SIGPIPE is
// ignored from now on, so that a closed pipe shows as ClosedPipe, and SIGXFSZ, so that a limit on the size of
// files shows as WriteError. Call once, at the start.
void install_signal_cleanup();

}  // namespace semicrf
