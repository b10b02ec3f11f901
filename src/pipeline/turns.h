// Threads that finish numbered work in any order, of which something remains to be done in the order of the
// numbers.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace semicrf {

class Turns {
 public:
  // What waiting threads throw once something that was to be done has thrown.
  struct Cancelled {};

  // Does `work` when everything with smaller numbers is done: now, or later by another thread that comes
  // here. What it throws, the thread that does it throws.
  void submit(std::int64_t number, std::function<void()> work);
  // Returns when everything with smaller numbers is done. The number must be submitted afterwards.
  void wait_for(std::int64_t number);

 private:
  std::mutex mutex_;
  std::condition_variable moved_;
  std::map<std::int64_t, std::function<void()>> pending_;
  std::int64_t next_ = 0;
  bool busy_ = false;
  bool cancelled_ = false;
};

}  // namespace semicrf
