// Numbered work that threads hand in in any order and one thread does in the order of the numbers.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace semicrf {

class Turns {
 public:
  // What waiting threads throw once something that was to be done has thrown.
  struct Cancelled {};

  // At most `most_pending` are kept waiting for their turn.
  explicit Turns(std::size_t most_pending) : most_pending_(most_pending) {}

  // Hands in. Waits while too much is pending, except for what is due.
  void submit(std::int64_t number, std::function<void()> work);
  // Returns when everything with smaller numbers is done. The number must be submitted afterwards.
  void wait_for(std::int64_t number);
  // Nothing more will be submitted.
  void close();

  // Does what is handed in until all of it is done after close(). What it throws ends it.
  void work_off();

 private:
  std::size_t most_pending_;
  std::mutex mutex_;
  std::condition_variable moved_;
  std::map<std::int64_t, std::function<void()>> pending_;
  std::int64_t next_ = 0;
  bool busy_ = false;
  bool closed_ = false;
  bool cancelled_ = false;
};

}  // namespace semicrf
