#include "pipeline/run/turns.h"

#include <utility>

namespace semicrf {

void Turns::submit(std::int64_t number, std::function<void()> work) {
  std::unique_lock<std::mutex> lock(mutex_);
  moved_.wait(lock, [&] { return cancelled_ || pending_.size() < most_pending_ || number == next_; });
  if (cancelled_) throw Cancelled{};
  pending_.emplace(number, std::move(work));
  moved_.notify_all();
}

void Turns::wait_for(std::int64_t number) {
  std::unique_lock<std::mutex> lock(mutex_);
  moved_.wait(lock, [&] { return cancelled_ || (next_ == number && !busy_); });
  if (cancelled_) throw Cancelled{};
}

void Turns::close() {
  const std::lock_guard<std::mutex> lock(mutex_);
  closed_ = true;
  moved_.notify_all();
}

void Turns::work_off() {
  std::unique_lock<std::mutex> lock(mutex_);
  for (;;) {
    const auto due = [&] { return !pending_.empty() && pending_.begin()->first == next_; };
    moved_.wait(lock, [&] { return due() || closed_; });
    if (!due()) return;
    auto work = std::move(pending_.extract(pending_.begin()).mapped());
    busy_ = true;
    lock.unlock();
    try {
      work();
      work = {};  // what it holds goes before the next turn
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

}  // namespace semicrf
