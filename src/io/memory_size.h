// Amounts of memory as people write and read them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace semicrf {

// "8G", "500M", "1.5g", "64k", "2T" or plain bytes; powers of 1024; an optional "B", "i" or "iB" may follow
// the letter. UsageError, naming `option`: anything else, zero, or more than fits in 63 bits.
std::int64_t parse_memory_size(std::string_view text, std::string_view option);

// "640 MiB", rounded up: an amount for the memory of a job.
std::string print_mebibytes(std::size_t bytes);

// "1.5 GiB", "640 MiB", "12 bytes", rounded to what a person wants to see.
std::string print_memory_size(std::int64_t bytes);

}  // namespace semicrf
