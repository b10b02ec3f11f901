#include "device_counters.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "cuda_runtime.h"

namespace emulation {
namespace {

struct Ledger {
  std::mutex mutex;
  std::unordered_map<void*, std::size_t> blocks;
  std::size_t bytes = 0, peak = 0;
  int until_failure = -1;
};

// Never destroyed: engines may free memory while the program ends.
Ledger& ledger() {
  static Ledger* const one = new Ledger;
  return *one;
}

}  // namespace

std::size_t device_bytes() {
  const std::lock_guard lock(ledger().mutex);
  return ledger().bytes;
}
std::size_t peak_device_bytes() {
  const std::lock_guard lock(ledger().mutex);
  return ledger().peak;
}
void reset_peak() {
  const std::lock_guard lock(ledger().mutex);
  ledger().peak = ledger().bytes;
}
void fail_allocations_after(int successes) {
  const std::lock_guard lock(ledger().mutex);
  ledger().until_failure = successes;
}

}  // namespace emulation

cudaError_t cudaMalloc(void** p, std::size_t n) {
  emulation::Ledger& ledger = emulation::ledger();
  const std::lock_guard lock(ledger.mutex);
  *p = nullptr;
  if (ledger.until_failure == 0) return cudaErrorMemoryAllocation;
  if (ledger.until_failure > 0) --ledger.until_failure;
  *p = std::malloc(n);
  if (*p == nullptr) return cudaErrorMemoryAllocation;
  std::memset(*p, 0xFF, n);  // what a kernel does not write must not look right
  ledger.blocks[*p] = n;
  ledger.bytes += n;
  ledger.peak = std::max(ledger.peak, ledger.bytes);
  return cudaSuccess;
}

cudaError_t cudaFree(void* p) {
  emulation::Ledger& ledger = emulation::ledger();
  const std::lock_guard lock(ledger.mutex);
  const auto block = ledger.blocks.find(p);
  if (block != ledger.blocks.end()) {
    ledger.bytes -= block->second;
    ledger.blocks.erase(block);
  }
  std::free(p);
  return cudaSuccess;
}
