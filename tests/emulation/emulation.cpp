// Fibers for the threads of a block, and the barriers they meet at.
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "cuda_runtime.h"
#include "device_counters.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

// The dynamic shared memory of the one block that runs.
namespace semicrf::cuda {
extern unsigned char shared_memory[emulation::kSharedBytes];
alignas(16) unsigned char shared_memory[emulation::kSharedBytes];
}  // namespace semicrf::cuda

dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {

namespace {

// Where to go on. As _setjmp and _longjmp do, without what they look after that fibers do not have.
using Jump = void* [5];

struct Barrier {
  int arrived = 0;
  unsigned generation = 0;
};
struct WarpBarriers {
  Barrier all;
  std::map<unsigned, Barrier> groups;  // by their mask
};

// Runs one thread after the other: of the next block, too, so that its stack and context are made once.
struct Fiber {
  ucontext_t start;
  Jump resume;
  bool started = false;
  bool finished = false;
  const Barrier* waits_for = nullptr;
  unsigned generation = 0;  // of that barrier when it began to wait
  unsigned exchanges = 0;
  WarpBarriers* warp = nullptr;
  unsigned char* slots = nullptr;  // of its warp
  std::unique_ptr<unsigned char[]> stack;
  void* fake_stack = nullptr;  // of the address sanitizer, while another stack runs
};

// Tells the address sanitizer, where there is one, that the stack changes: before the jump, and after it on
// the other stack. `fake_stack`: where that of the stack which is left is kept; null when it is not needed
// again.
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kStack = 512 * 1024;  // of a fiber, room between variables included
void leave_stack(void** fake_stack, const void* bottom, std::size_t size) {
  __sanitizer_start_switch_fiber(fake_stack, bottom, size);
}
void enter_stack(void* fake_stack, const void** bottom_left, std::size_t* size_left) {
  __sanitizer_finish_switch_fiber(fake_stack, bottom_left, size_left);
}
// What lies beyond the first `bytes` of the shared memory is an error to touch.
void allow_shared_memory(std::size_t bytes) {
  __asan_unpoison_memory_region(semicrf::cuda::shared_memory, bytes);
  __asan_poison_memory_region(semicrf::cuda::shared_memory + bytes, kSharedBytes - bytes);
}
#else
constexpr std::size_t kStack = std::size_t{128} * 1024;
void leave_stack(void**, const void*, std::size_t) {}
void enter_stack(void*, const void**, std::size_t*) {}
void allow_shared_memory(std::size_t) {}
#endif

std::vector<std::unique_ptr<Fiber>> fibers;  // at least as many as the block has threads
Fiber* running = nullptr;
std::size_t used_shared_bytes = kSharedBytes;  // since it was filled
std::vector<WarpBarriers> warp_barriers;
std::vector<Barrier> named_barriers;
Barrier whole_block;
std::vector<unsigned char> slots;  // (warps, 2, 32) of 8 bytes
Jump scheduler;
// The stack of the scheduler.
void* scheduler_fake_stack = nullptr;
const void* scheduler_bottom = nullptr;
std::size_t scheduler_size = 0;
const std::function<void()>* body = nullptr;
std::atomic<std::size_t> launch_count{0};

// The compiler allows no jump in a function that others jump to.
[[gnu::noinline]] void jump_to_scheduler() { __builtin_longjmp(scheduler, 1); }

// Back to the scheduler, until it runs this fiber again.
[[gnu::noinline]] void leave(Fiber& fiber) {
  if (__builtin_setjmp(fiber.resume) == 0) {
    leave_stack(&fiber.fake_stack, scheduler_bottom, scheduler_size);
    jump_to_scheduler();
  }
  enter_stack(running->fake_stack, &scheduler_bottom, &scheduler_size);
}

void fiber_main() {
  enter_stack(nullptr, &scheduler_bottom, &scheduler_size);
  while (true) {
    (*body)();
    running->finished = true;
    leave(*running);
  }
}

void wait_at(Barrier& barrier, int count) {
  if (++barrier.arrived == count) {
    barrier.arrived = 0;
    ++barrier.generation;
    return;
  }
  running->waits_for = &barrier;
  running->generation = barrier.generation;
  leave(*running);
}

[[gnu::noinline]] void jump_to(Fiber& fiber) {
  if (fiber.started) __builtin_longjmp(fiber.resume, 1);
  fiber.started = true;
  setcontext(&fiber.start);
}

[[gnu::noinline]] void run_fiber(unsigned index) {
  running = fibers[index].get();
  threadIdx.x = index;
  if (__builtin_setjmp(scheduler) != 0) {
    enter_stack(scheduler_fake_stack, nullptr, nullptr);
    return;
  }
  leave_stack(&scheduler_fake_stack, running->stack.get(), kStack);
  jump_to(*running);
}

void need_fibers(std::size_t count) {
  while (fibers.size() < count) {
    Fiber& fiber = *fibers.emplace_back(std::make_unique<Fiber>());
    fiber.stack = std::make_unique_for_overwrite<unsigned char[]>(kStack);
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = fiber.stack.get();
    fiber.start.uc_stack.ss_size = kStack;
    fiber.start.uc_link = nullptr;
    makecontext(&fiber.start, fiber_main, 0);
  }
}

// What the block before left there must not look right.
void fill_shared_memory(std::size_t bytes) {
  const std::size_t filled = std::max(bytes, used_shared_bytes);
  allow_shared_memory(filled);
  std::memset(semicrf::cuda::shared_memory, 0xFF, filled);
  allow_shared_memory(bytes);
  used_shared_bytes = bytes;
}

}  // namespace

void warp_barrier(unsigned mask) {
  WarpBarriers& warp = *running->warp;
  if (mask == 0xffffffffu) return wait_at(warp.all, 32);
  wait_at(warp.groups[mask], __builtin_popcount(mask));
}
void named_barrier(int id, int count) { wait_at(named_barriers[static_cast<std::size_t>(id)], count); }
void block_barrier() { wait_at(whole_block, static_cast<int>(blockDim.x)); }

unsigned char* exchange(int lane) {
  return running->slots + (std::size_t{running->exchanges % 2} * 32 + static_cast<std::size_t>(lane)) * 8;
}
void next_exchange() { ++running->exchanges; }

std::size_t launches() { return launch_count; }

void run_grid(dim3 grid, dim3 block, const std::function<void()>& kernel, std::size_t shared_bytes) {
  ++launch_count;
  if (block.x % 32 != 0) throw std::logic_error("emulated blocks are whole warps");
  static std::mutex alone;  // engines may have threads of their own
  const std::lock_guard lock(alone);
  gridDim = grid;
  blockDim = block;
  body = &kernel;
  need_fibers(block.x);
  for (unsigned b = 0; b < grid.x; ++b) {
    blockIdx = dim3(b);
    warp_barriers.assign(block.x / 32, WarpBarriers());
    named_barriers.assign(16, Barrier());
    whole_block = Barrier();
    slots.assign(std::size_t{block.x} * 2 * 8, 0);
    for (unsigned i = 0; i < block.x; ++i) {
      fibers[i]->finished = false;
      fibers[i]->waits_for = nullptr;
      fibers[i]->exchanges = 0;
      fibers[i]->warp = &warp_barriers[i / 32];
      fibers[i]->slots = slots.data() + std::size_t{i} / 32 * 2 * 32 * 8;
    }
    fill_shared_memory(shared_bytes);
    unsigned left = block.x;
    while (left > 0) {
      bool moved = false;
      for (unsigned i = 0; i < block.x; ++i) {
        Fiber& fiber = *fibers[i];
        if (fiber.finished) continue;
        if (fiber.waits_for != nullptr && fiber.waits_for->generation == fiber.generation) continue;
        fiber.waits_for = nullptr;
        moved = true;
        run_fiber(i);
        if (fiber.finished) --left;
      }
      if (!moved) {
        fibers.clear();  // those that wait would go on in the next block
        throw std::logic_error("the threads of an emulated block wait for each other");
      }
    }
  }
}

}  // namespace emulation
