// Numbered work that threads hand in in any order and that is done in the order of the numbers.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "core/threads/parallel.h"

namespace semicrf {

// Numbers are 0, 1, 2, ... The first work that throws ends it all: nothing more is done.
class Turns {
 public:
  // What threads that hand in get once some work has thrown.
  struct Cancelled {};
  // Which thread does the work: that which hands it in, when it is the work's turn, or another one. Where the
  // system refuses that other one, those that hand in.
  enum class Thread { kCaller, kOwn };

  // At most `most_pending` works that were handed in to the own thread are not done.
  Turns(std::size_t most_pending, Thread thread);
  Turns(const Turns&) = delete;
  Turns& operator=(const Turns&) = delete;
  ~Turns();

  // Hands in. Waits while too much is pending, unless it is the work's turn.
  void submit(std::int64_t number, std::function<void()> work);
  // Does the work in this thread when it is its turn.
  void do_now(std::int64_t number, std::function<void()> work);
  // Returns when everything with smaller numbers is done. The number must be handed in afterwards.
  void wait_for(std::int64_t number);
  // Nothing more will be handed in. Returns when everything is done, or throws what some work has thrown.
  void finish();

 private:
  void work_off();
  void wait_until(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready);
  void close(bool cancel);
  void run(std::function<void()> work, std::unique_lock<std::mutex>& lock);

  std::size_t most_pending_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::map<std::int64_t, std::function<void()>> pending_;
  std::int64_t next_ = 0;  // the number whose turn it is, or whose work is being done
  bool busy_ = false;      // it is being done
  bool closed_ = false;
  bool cancelled_ = false;
  std::exception_ptr error_;
  std::jthread thread_;  // last, as it uses the others
};

// Calls make(i) for i = 0..count-1 on `threads` threads, and take(what it made) in the order of i on one of
// its own. What was made must be copyable; about two per thread wait. Throws what either throws; nothing more
// is taken then.
template <class Make, class Take>
void in_turns(int threads, std::size_t count, const Make& make, const Take& take) {
  Turns turns(2 * static_cast<std::size_t>(threads), Turns::Thread::kOwn);
  try {
    parallel_for(threads, count, [&](std::size_t i, int) {
      turns.submit(static_cast<std::int64_t>(i), [&take, made = make(i)] { take(made); });
    });
  } catch (const Turns::Cancelled&) {
    // finish() throws the error itself.
  }
  turns.finish();
}

}  // namespace semicrf
