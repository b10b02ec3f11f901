// How a run divides the memory it may use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/error.h"

namespace semicrf {

// Windows when the user names no limit and memory is not scarce: large enough for whole chromosomes of
// 200-base bins, small for a laptop.
inline constexpr std::size_t kDefaultWindowMemory = std::size_t{192} << 20;

// Windows when the user names no limit and there is a GPU, which is slow with few positions at a time.
inline constexpr std::size_t kDefaultDeviceWindowMemory = std::size_t{1} << 30;

// Kept in memory by each temporary spool before it moves to disk.
inline constexpr std::size_t kSpoolMemory = std::size_t{1} << 20;

// The program itself, its spools and its output buffers: the part of --max-memory that windows cannot have.
inline constexpr std::size_t kFixedMemory = std::size_t{32} << 20;

// kFixedMemory where inputs and outputs keep so many bytes, of which it has room for those of a usual genome.
std::size_t fixed_memory(std::size_t kept);

// What each draw of a simulation adds to that part: the buffer of its file and its latest segments.
inline constexpr std::size_t kDrawMemory = std::size_t{320} << 10;

// What each of several best segmentations adds to that part: itself and the buffers of its file, of a
// compressed one, and of a bigBed file with its zoom levels.
inline constexpr std::size_t kRankMemory = std::size_t{32} << 10;
inline constexpr std::size_t kCompressedRankMemory = std::size_t{288} << 10;
inline constexpr std::size_t kBigBedRankMemory = std::size_t{256} << 10;

// MemoryError "WHO needs 40 MiB and --max-memory is 32 MiB; ADVICE" when `bytes` are more than the limit,
// if there is one. `use`: added to the bytes, or empty.
void check_memory_limit(const std::optional<std::int64_t>& max_memory, std::size_t bytes,
                        const std::string& who, const std::string& use, const std::string& advice);

// The smallest whole number of MiB, in bytes, from `least` on with which fits(bytes) holds: if it holds for
// some amount, it holds for all larger ones. Nothing where no amount is enough.
std::optional<std::size_t> sufficient_memory(std::size_t least, const std::function<bool(std::size_t)>& fits);

// The MemoryError for a --max-memory that leaves too little beside the `fixed` part, with the total that
// would do, in whole MiB.
[[noreturn]] void refuse_memory_limit(std::int64_t max_memory, std::size_t fixed, std::size_t sufficient);

// How --max-memory is typed for so many bytes, rounded up: "57M".
std::string memory_option(std::size_t bytes);

// Bytes that this process can have without swapping: of the machine, and of the control groups (version 1 or
// 2) that it is in, as jobs of a cluster and containers are. Nothing where the system does not tell. `root`:
// a folder in place of /, for tests.
std::optional<std::size_t> available_memory(const std::string& root = "");

// What windows would like to have.
struct WindowWish {
  std::size_t modest = kDefaultWindowMemory;  // as far as half of what there is, but 16 MiB at least
  std::size_t comfortable = 0;                // as far as there is so much, beyond the modest part
  std::size_t ample = 0;                      // as far as half of what there is
};

// Bytes for windows: what --max-memory leaves beside the `fixed` part; without a limit what is wished for and
// `available`, of which nothing is known where it is empty. MemoryError when the limit leaves nothing.
std::size_t window_memory(const std::optional<std::int64_t>& max_memory, std::size_t fixed,
                          const WindowWish& wish,
                          const std::optional<std::size_t>& available = available_memory());

// What `plan` makes of the bytes for windows; where --max-memory leaves too little for it (it throws
// MemoryError), the error names the amount that would do. Without a limit it gets what is wished for, even
// where there is less, before it fails.
template <class Plan>
auto plan_in_memory(const std::optional<std::int64_t>& max_memory, const WindowWish& wish, const Plan& plan) {
  try {
    return plan(window_memory(max_memory, kFixedMemory, wish));
  } catch (const MemoryError&) {
    if (!max_memory) return plan(wish.modest);
    const std::optional<std::size_t> sufficient = sufficient_memory(kFixedMemory, [&](std::size_t total) {
      try {
        plan(total - kFixedMemory);
        return true;
      } catch (const MemoryError&) {
        return false;
      }
    });
    if (!sufficient) throw;
    refuse_memory_limit(*max_memory, kFixedMemory, *sufficient);
  }
}

}  // namespace semicrf
