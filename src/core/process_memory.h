// Memory: amounts as people write and read them, and what this process takes of the machine's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

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

// From now on memory that is given back is kept for what is asked for next. By default arrays of megabytes go
// back to the system, which clears the pages of the next one: an eighth to a quarter of the processor time of
// passes that make their arrays anew. The peak is the same.
void keep_freed_memory();

// "8G", "500M", "1.5g", "64k", "2T" or plain bytes; powers of 1024; an optional "B", "i" or "iB" may follow
// the letter. UsageError, naming `option`: anything else, zero, or more than fits in 63 bits.
std::int64_t parse_memory_size(std::string_view text, std::string_view option);

// "640 MiB", rounded up: an amount for the memory of a job.
std::string print_mebibytes(std::size_t bytes);

// "1.5 GiB", "640 MiB", "12 bytes", rounded to what a person wants to see.
std::string print_memory_size(std::int64_t bytes);

}  // namespace semicrf
