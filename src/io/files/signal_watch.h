// Work that is done when a signal ends the program.
#pragma once

#include <functional>
#include <thread>

namespace semicrf {

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
