// Threads where the system allows them. What a program may start is limited (ulimit -u, the process limit of
// a container, ulimit -v): work that gets no thread is done by the threads there are, with the same results.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <future>
#include <mutex>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/sizes.h"

namespace semicrf {

// Called once for the process, when the system first refuses a thread, by the thread that asked for it. To be
// set before threads are started.
void tell_of_refused_threads(std::function<void()> tell);

// What a refusal is told to; for the functions below. Throws `error` again where it is no refusal.
void note_refused_thread(const std::system_error& error);

// A thread that does `work`, or one that is not joinable where the system refuses it.
template <class Work>
std::jthread start_thread(Work work) {
  try {
    return std::jthread(std::move(work));
  } catch (const std::system_error& error) {
    note_refused_thread(error);
    return {};
  }
}

// The result of `work`, which is done beside the caller, or at once where the system refuses a thread.
template <class Work>
std::future<std::invoke_result_t<Work&>> do_beside(Work work) {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error& error) {
    note_refused_thread(error);
  }
  std::packaged_task<std::invoke_result_t<Work&>()> task(std::move(work));
  task();
  return task.get_future();
}

// The result of `work`, which is done beside the caller, or where the system refuses a thread when the result
// is asked for: for work that waits for what others do before that.
template <class Work>
std::future<std::invoke_result_t<Work&>> do_beside_or_later(Work work) {
  try {
    return std::async(std::launch::async, work);
  } catch (const std::system_error& error) {
    note_refused_thread(error);
  }
  return std::async(std::launch::deferred, std::move(work));
}

// body(i, worker): iteration i, on the thread that `worker` in 0..threads-1 names.
using LoopBody = std::function<void(std::size_t i, int worker)>;

// Threads that stay for many loops. For one caller at a time.
class ThreadPool {
 public:
  // The caller's thread is worker 0 of `threads`; less than one counts as one. There are fewer where the
  // system refuses them.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(helpers_.size()) + 1; }

  // Calls body(i, worker) for i = 0..count-1, each once; worker is below size() and below count. The caller
  // begins with 0, the others with the next that is left. When some throw, the rest is not started and the
  // exception of the smallest i is thrown again.
  void run(std::size_t count, const LoopBody& body);

 private:
  struct Loop;
  ThreadPool() = default;
  void help(int worker);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  Loop* loop_ = nullptr;
  std::size_t loops_ = 0;  // begun so far
  int busy_ = 0;           // helpers that are not done with the loop
  bool stop_ = false;
  std::vector<std::jthread> helpers_;
};

// ThreadPool::run on up to `threads` threads that live as long as the loop.
void parallel_for(int threads, std::size_t count, const LoopBody& body);

// Calls body(from, to) for the parts of [begin, end), each `step` long but for the last one.
template <class Body>
void parallel_ranges(int threads, std::int64_t begin, std::int64_t end, std::int64_t step, const Body& body) {
  parallel_for(threads, wide(ceil_div(end - begin, step)), [&](std::size_t part, int) {
    const std::int64_t from = begin + static_cast<std::int64_t>(part) * step;
    body(from, std::min(end, from + step));
  });
}

}  // namespace semicrf
