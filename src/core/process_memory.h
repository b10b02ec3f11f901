// What this process takes of the machine's memory.
#pragma once

#include <cstdint>

namespace semicrf {

// Bytes in memory now; 0 where the system does not tell.
struct ResidentBytes {
  std::int64_t own = 0;     // heap and stacks
  std::int64_t mapped = 0;  // bytes of mapped files: the program itself, and inputs
  std::int64_t all() const { return own + mapped; }
};
ResidentBytes resident_bytes();

// The most there ever were since the program was started.
std::int64_t peak_resident_bytes();

// From now on all threads share one heap. By default each gets one of its own, and what a thread gives back
// stays in its heap: where large arrays go from thread to thread that adds up to a fifth of the memory.
void share_one_heap();

}  // namespace semicrf
