#include "core/threads/parallel.h"

#include <atomic>
#include <exception>

namespace semicrf {
namespace {

std::function<void()>& listener() {
  static std::function<void()> tell;
  return tell;
}

}  // namespace

void tell_of_refused_threads(std::function<void()> tell) { listener() = std::move(tell); }

void note_refused_thread(const std::system_error& error) {
  static std::atomic<bool> told{false};
  if (error.code() != std::errc::resource_unavailable_try_again) throw error;
  if (!told.exchange(true) && listener()) listener()();
}

struct ThreadPool::Loop {
  Loop(std::size_t iterations, const LoopBody& of) : count(iterations), body(of), error_index(iterations) {}

  void work(int worker) {
    if (static_cast<std::size_t>(worker) >= count) return;
    // An iteration that was taken is always finished, so that the first failure is found whatever the
    // threads.
    for (std::size_t i = worker == 0 ? 0 : next++; i < count; i = next++) {
      try {
        body(i, worker);
      } catch (...) {
        const std::lock_guard lock(mutex);
        failed = true;
        if (i < error_index) {
          error_index = i;
          error = std::current_exception();
        }
      }
      if (failed) return;
    }
  }

  const std::size_t count;
  const LoopBody& body;
  std::atomic<std::size_t> next{1};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::exception_ptr error;
  std::size_t error_index;
};

ThreadPool::ThreadPool(int threads) : ThreadPool() {
  for (int worker = 1; worker < threads; ++worker) {
    std::jthread helper = start_thread([this, worker] { help(worker); });
    if (!helper.joinable()) break;  // the system allows no more
    helpers_.push_back(std::move(helper));
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  start_.notify_all();
}

void ThreadPool::run(std::size_t count, const LoopBody& body) {
  Loop loop(count, body);
  if (!helpers_.empty() && count > 1) {
    const std::lock_guard lock(mutex_);
    loop_ = &loop;
    busy_ = static_cast<int>(helpers_.size());
    ++loops_;
    start_.notify_all();
  }
  loop.work(0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return busy_ == 0; });
  if (loop.error) std::rethrow_exception(loop.error);
}

void ThreadPool::help(int worker) {
  std::size_t seen = 0;
  std::unique_lock lock(mutex_);
  while (true) {
    start_.wait(lock, [&] { return stop_ || loops_ != seen; });
    if (stop_) return;
    seen = loops_;
    lock.unlock();
    loop_->work(worker);
    lock.lock();
    if (--busy_ == 0) done_.notify_all();
  }
}

void parallel_for(int threads, std::size_t count, const LoopBody& body) {
  const std::size_t useful = std::min<std::size_t>(count, std::max(1, threads));
  ThreadPool(static_cast<int>(useful)).run(count, body);
}

}  // namespace semicrf
