#include "pipeline/run/parallel_for.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace semicrf {

void parallel_for(int threads, std::size_t count, const std::function<void(std::size_t, int)>& body) {
  std::atomic<std::size_t> next{0};
  std::atomic<bool> failed{false};
  std::mutex mutex;
  std::exception_ptr error;
  std::size_t error_index = count;
  const auto work = [&](int worker) {
    while (!failed) {
      const std::size_t i = next++;
      if (i >= count) return;
      try {
        body(i, worker);
      } catch (...) {
        const std::lock_guard<std::mutex> lock(mutex);
        failed = true;
        if (i < error_index) {
          error_index = i;
          error = std::current_exception();
        }
      }
    }
  };
  const auto helpers = static_cast<int>(std::min(count, static_cast<std::size_t>(std::max(1, threads)))) - 1;
  std::vector<std::jthread> pool;
  for (int worker = 1; worker <= helpers; ++worker) pool.emplace_back(work, worker);
  work(0);
  pool.clear();  // joins
  if (error) std::rethrow_exception(error);
}

}  // namespace semicrf
