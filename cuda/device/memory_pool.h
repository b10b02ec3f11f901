// Memory of the device, and pinned memory of the host, that outlives the engines: getting it from the driver
// takes longer than a short sequence, and training makes engines again and again.
#pragma once

#include <cstddef>

namespace semicrf::cuda {

enum class MemoryKind { kDevice, kPinned };  // memory of the current device; of the host

// Contents are undefined. MemoryError when there is not enough.
void* allocate_memory(MemoryKind kind, std::size_t bytes);
// Keeps it for the next allocation: memory of a device after all work of its device has ended; no copy may be
// using pinned memory.
void release_memory(MemoryKind kind, void* memory);
// Bytes of the current device that allocations can have without the driver.
std::size_t idle_device_memory();

}  // namespace semicrf::cuda
