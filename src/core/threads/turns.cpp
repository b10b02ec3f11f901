#include "core/threads/turns.h"

namespace semicrf {

Turns::Turns(std::size_t most_pending, Thread thread) : most_pending_(most_pending) {
  if (thread == Thread::kOwn) thread_ = start_thread([this] { work_off(); });
}

Turns::~Turns() { close(true); }

void Turns::wait_until(std::unique_lock<std::mutex>& lock, const std::function<bool()>& ready) {
  moved_.wait(lock, [&] { return cancelled_ || ready(); });
  if (cancelled_) throw Cancelled{};
}

void Turns::submit(std::int64_t number, std::function<void()> work) {
  if (!thread_.joinable()) return do_now(number, std::move(work));
  std::unique_lock<std::mutex> lock(mutex_);
  wait_until(
      lock, [&] { return pending_.size() + (busy_ ? 1 : 0) < most_pending_ || (number == next_ && !busy_); });
  pending_.emplace(number, std::move(work));
  moved_.notify_all();
}

void Turns::do_now(std::int64_t number, std::function<void()> work) {
  std::unique_lock<std::mutex> lock(mutex_);
  wait_until(lock, [&] { return number == next_ && !busy_; });
  run(std::move(work), lock);
  if (cancelled_) throw Cancelled{};
}

void Turns::wait_for(std::int64_t number) {
  std::unique_lock<std::mutex> lock(mutex_);
  wait_until(lock, [&] { return number == next_ && !busy_; });
}

// The work whose turn it is, without the lock.
void Turns::run(std::function<void()> work, std::unique_lock<std::mutex>& lock) {
  busy_ = true;
  lock.unlock();
  std::exception_ptr error;
  try {
    work();
    work = nullptr;  // what it refers to goes before the next turn
  } catch (...) {
    error = std::current_exception();
  }
  lock.lock();
  busy_ = false;
  ++next_;
  if (error) {
    error_ = error;
    cancelled_ = true;
  }
  moved_.notify_all();
}

void Turns::close(bool cancel) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    closed_ = true;
    cancelled_ = cancelled_ || cancel;
    moved_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Turns::finish() {
  close(false);
  if (error_) std::rethrow_exception(error_);
}

void Turns::work_off() {
  std::unique_lock<std::mutex> lock(mutex_);
  const auto due = [&] { return !busy_ && !pending_.empty() && pending_.begin()->first == next_; };
  while (!cancelled_) {
    moved_.wait(lock, [&] { return due() || closed_ || cancelled_; });
    if (cancelled_ || !due()) return;
    run(std::move(pending_.extract(pending_.begin()).mapped()), lock);
  }
}

}  // namespace semicrf
