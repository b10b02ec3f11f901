#include "pipeline/turns.h"

#include <utility>

namespace semicrf {

void Turns::submit(std::int64_t number, std::function<void()> work) {
  std::unique_lock<std::mutex> lock(mutex_);
  pending_.emplace(number, std::move(work));
  if (busy_) return;
  while (!cancelled_ && !pending_.empty() && pending_.begin()->first == next_) {
    const auto due = pending_.extract(pending_.begin());
    busy_ = true;
    lock.unlock();
    try {
      due.mapped()();
    } catch (...) {
      lock.lock();
      busy_ = false;
      cancelled_ = true;
      moved_.notify_all();
      throw;
    }
    lock.lock();
    busy_ = false;
    ++next_;
    moved_.notify_all();
  }
}

void Turns::wait_for(std::int64_t number) {
  std::unique_lock<std::mutex> lock(mutex_);
  moved_.wait(lock, [&] { return cancelled_ || (next_ == number && !busy_); });
  if (cancelled_) throw Cancelled{};
}

}  // namespace semicrf
