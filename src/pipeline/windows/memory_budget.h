// How a run divides the memory it may use.
#pragma once

#include <cstddef>

namespace semicrf {

// Windows when the user names no limit: large enough for whole chromosomes of 200-base bins, small for a
// laptop.
inline constexpr std::size_t kDefaultWindowMemory = std::size_t{192} << 20;

// The same with a GPU, which is slow with few positions at a time.
inline constexpr std::size_t kDefaultDeviceWindowMemory = std::size_t{1} << 30;

// Kept in memory by each temporary spool before it moves to disk.
inline constexpr std::size_t kSpoolMemory = std::size_t{1} << 20;

// The program itself, its spools and its output buffers: the part of --max-memory that windows cannot have.
inline constexpr std::size_t kFixedMemory = std::size_t{32} << 20;

// Likewise for each draw of a simulation: the buffer of its file and its latest segments.
inline constexpr std::size_t kDrawMemory = std::size_t{320} << 10;

}  // namespace semicrf
