// A fixed set of threads that work through numbered tasks.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace semicrf::cpu {

class ThreadPool {
 public:
  // The caller's thread is one of `threads` (>= 1).
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls task(index, worker) for index 0..count-1, in order of index as threads become free; worker is below
  // size() and below count. Returns when all are done; rethrows the first exception.
  void run(std::size_t count, const std::function<void(std::size_t, int)>& task);

 private:
  void work(int worker);
  void take_tasks(int worker);

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(std::size_t, int)>* task_ = nullptr;
  std::size_t next_ = 0, count_ = 0;
  int busy_ = 0;
  std::size_t generation_ = 0;
  bool stop_ = false;
  std::exception_ptr error_;
  std::vector<std::thread> workers_;
};

}  // namespace semicrf::cpu
