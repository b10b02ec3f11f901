// What a signal that ends the program finds to do: temporary files and new folders are removed, a mapped file
// that was cut is told of, and a fit may bring its state to disk.
//
// Whatever a handler reads is registered here while it exists, because a handler may do next to nothing.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <thread>

namespace semicrf {

// Registers the `size` bytes at `data` as those of the mapped file `path` for as long as the object lives: a
// page that was cut off the file kills who touches it (SIGBUS).
class MappedRegion {
 public:
  MappedRegion() = default;
  MappedRegion(const void* data, std::size_t size, const std::string& path);
  void release() noexcept { entry_.reset(); }

  struct Entry;

 private:
  struct Release {
    void operator()(Entry* entry) const noexcept;
  };
  std::unique_ptr<Entry, Release> entry_;
};

// The line of the error, with its end, where `address` is in a registered region; else empty.
// Async-signal-safe.
std::string_view line_of_lost_page(const void* address) noexcept;

// Registers the path of a temporary file or new folder for as long as the object lives. The entry itself is
// never freed: a handler on another thread may be reading it (a process has a handful of them).
class TemporaryName {
 public:
  TemporaryName() = default;
  explicit TemporaryName(const std::string& path);
  // Forgets the path: the file was renamed or removed.
  void release() noexcept { entry_.reset(); }

  struct Entry;

 private:
  struct Release {
    void operator()(Entry* entry) const noexcept;
  };
  std::unique_ptr<Entry, Release> entry_;
};

// The signals by which people, shells and schedulers end a program: SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGXCPU
// and so on.
std::span<const int> ending_signals();

// Removes what is registered, folders only where they are empty. Async-signal-safe.
void remove_temporaries() noexcept;

// ending_signals(), and those of a crash (SIGSEGV, SIGABRT): remove what is registered, restore the default
// action and raise the signal again, so that the exit status tells the signal (130, 143, 129 in shells). A
// signal that was ignored on entry (nohup, background jobs) stays ignored. SIGBUS in a file that has become
// shorter while it was mapped is an error of that file: exit code 4. SIGPIPE is
// ignored from now on, so that a closed pipe shows as ClosedPipe, and SIGXFSZ, so that a limit on the size of
// files shows as WriteError. Call once, at the start.
void install_signal_cleanup();

// While the object lives, the ending_signals() run `before_end` on a thread of its own, beside whatever
// the program is doing, and then end the program as they would have without it. A second signal ends it at
// once. A signal that was ignored stays ignored. One object at a time.
class SignalWatch {
 public:
  explicit SignalWatch(std::function<void()> before_end);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void watch();

  std::function<void()> before_end_;
  int read_end_ = -1;
  std::jthread thread_;
};

}  // namespace semicrf
