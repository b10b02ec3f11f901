// A loop whose iterations run on several threads.
#pragma once

#include <cstddef>
#include <functional>

namespace semicrf {

// Calls body(i, worker) for i = 0..count-1, each once, on up to `threads` threads including this one;
// `worker` in 0..threads-1 names the thread. Iterations start in order. When some throw, the rest is not
// started and the exception of the smallest i is thrown again.
void parallel_for(int threads, std::size_t count, const std::function<void(std::size_t, int)>& body);

}  // namespace semicrf
