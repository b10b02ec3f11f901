// Memory of the device, and pinned memory of the host, that outlives the engines: getting it from the driver
// takes longer than a short sequence, and training makes engines again and again.
#pragma once

#include <cstddef>

namespace semicrf::cuda {

// Memory of the current device; null when there is not enough. Contents are undefined.
void* take_device_memory(std::size_t bytes);
// Gives it back for the next taker, after all work of its device has ended.
void give_device_memory(void* memory);
// Bytes of the current device that the next takers can have without the driver.
std::size_t idle_device_memory();

// Likewise pinned memory, which no copy may be using when it is given back.
void* take_pinned_memory(std::size_t bytes);
void give_pinned_memory(void* memory);

}  // namespace semicrf::cuda
