// What the emulated device was asked for, and failures of its memory for tests.
#pragma once

#include <cstddef>

namespace emulation {

// Bytes of its memory; pinned memory of the host does not count.
std::size_t device_bytes();       // allocated now
std::size_t peak_device_bytes();  // the most since reset_peak()
void reset_peak();

std::size_t launches();  // of kernels so far

// After `successes` more, every allocation fails, until this is called with a negative number.
void fail_allocations_after(int successes);

}  // namespace emulation
