// Loops whose iterations run on several threads.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/sizes.h"

namespace semicrf {

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
