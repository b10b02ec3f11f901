// The part of the CUDA runtime that cuda/ uses, run on the host: every thread of a block is a fiber, and a
// collective operation waits until all threads it names have reached it. With this folder before the
// toolkit's on the include path the sources of cuda/ compile as plain C++, so that the kernels' arithmetic,
// indexing and synchronisation are tested on machines without a GPU. Memory of the "device" is the host's;
// one block at a time, threads in a fixed order.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

// Functions of CUDA by their names.
// NOLINTBEGIN(bugprone-reserved-identifier)

#define __global__
#define __device__
#define __host__
#define __shared__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define SEMICRF_EMULATED_CUDA 1

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

extern dim3 threadIdx, blockIdx, blockDim, gridDim;

namespace emulation {

// Waits until all threads of the warp that `mask` names, the first `count` threads of named barrier `id`, or
// the block came here.
void warp_barrier(unsigned mask = 0xffffffffu);
void named_barrier(int id, int count);
void block_barrier();
// 32 slots of 8 bytes; another set every second operation.
unsigned char* exchange(int lane);
void next_exchange();

constexpr std::size_t kSharedBytes = std::size_t{256} * 1024;
// `shared_bytes`: of the dynamic shared memory that the kernel may use.
void run_grid(dim3 grid, dim3 block, const std::function<void()>& kernel,
              std::size_t shared_bytes = kSharedBytes);

inline int lane() { return static_cast<int>(threadIdx.x % 32); }

template <class T>
T shuffle(unsigned mask, T value, int source) {
  static_assert(sizeof(T) <= 8);
  std::memcpy(exchange(lane()), &value, sizeof(T));
  warp_barrier(mask);
  T result;
  std::memcpy(&result, exchange(source), sizeof(T));
  next_exchange();
  return result;
}

}  // namespace emulation

inline void __syncthreads() { emulation::block_barrier(); }
inline void __syncwarp(unsigned mask = 0xffffffffu) { emulation::warp_barrier(mask); }
inline void __threadfence() {}
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int lane = emulation::lane();
  return emulation::shuffle(mask, value, lane / width * width + source % width);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int other, int = 32) {
  return emulation::shuffle(mask, value, emulation::lane() ^ other);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int lane = emulation::lane();
  const int source = lane - static_cast<int>(delta);
  return emulation::shuffle(mask, value, source < lane / width * width ? lane : source);
}
inline unsigned __ballot_sync(unsigned mask, bool predicate) {
  unsigned result = 0;
  std::memcpy(emulation::exchange(emulation::lane()), &predicate, sizeof(bool));
  emulation::warp_barrier(mask);
  for (int i = 0; i < 32; ++i) {
    if ((mask >> i & 1u) == 0) continue;
    bool theirs;
    std::memcpy(&theirs, emulation::exchange(i), sizeof(bool));
    if (theirs) result |= 1u << i;
  }
  emulation::next_exchange();
  return result;
}
namespace emulation {
template <class Choose>
int reduce(unsigned mask, int value, Choose choose) {
  std::memcpy(exchange(lane()), &value, sizeof(int));
  warp_barrier(mask);
  for (int i = 0; i < 32; ++i) {
    if ((mask >> i & 1u) == 0) continue;
    int theirs;
    std::memcpy(&theirs, exchange(i), sizeof(int));
    value = choose(value, theirs);
  }
  next_exchange();
  return value;
}
}  // namespace emulation
inline int __reduce_max_sync(unsigned mask, int value) {
  return emulation::reduce(mask, value, [](int a, int b) { return a > b ? a : b; });
}
inline int __reduce_min_sync(unsigned mask, int value) {
  return emulation::reduce(mask, value, [](int a, int b) { return a < b ? a : b; });
}
inline int __any_sync(unsigned mask, bool predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, bool predicate) { return __ballot_sync(mask, predicate) == mask; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __float_as_int(float x) {
  int y;
  std::memcpy(&y, &x, 4);
  return y;
}
inline float __int_as_float(int x) {
  float y;
  std::memcpy(&y, &x, 4);
  return y;
}
inline long long __double_as_longlong(double x) {
  long long y;
  std::memcpy(&y, &x, 8);
  return y;
}
inline double __longlong_as_double(long long x) {
  double y;
  std::memcpy(&y, &x, 8);
  return y;
}
inline int __double2loint(double x) { return static_cast<int>(__double_as_longlong(x)); }
inline int __double2hiint(double x) { return static_cast<int>(__double_as_longlong(x) >> 32); }
inline double __hiloint2double(int high, int low) {
  const auto low_bits = static_cast<unsigned long long>(static_cast<unsigned>(low));
  return __longlong_as_double(
      static_cast<long long>(static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | low_bits));
}
inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline double __dmul_rn(double a, double b) { return a * b; }
template <class T>
T __ldg(const T* p) {
  return *p;
}
template <class T>
T __ldcs(const T* p) {
  return *p;
}
template <class T>
void __stcs(T* p, T value) {
  *p = value;
}
inline int atomicAdd(int* p, int value) {
  const int before = *p;
  *p += value;
  return before;
}
struct float4 {
  float x, y, z, w;
};
struct double2 {
  double x, y;
};

// --- the host's side ---

enum cudaError_t { cudaSuccess = 0, cudaErrorMemoryAllocation = 2, cudaErrorNoDevice = 100 };
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize,
  cudaFuncAttributePreferredSharedMemoryCarveout
};
enum cudaDeviceAttr {
  cudaDevAttrMaxSharedMemoryPerBlockOptin,
  cudaDevAttrMaxSharedMemoryPerMultiprocessor,
  cudaDevAttrMultiProcessorCount
};
using cudaStream_t = void*;
struct cudaDeviceProp {
  char name[256];
  int major = 9, minor = 0;
  std::size_t totalGlobalMem = 0;
};
struct cudaLaunchAttribute {};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  cudaLaunchAttribute* attrs = nullptr;
  unsigned numAttrs = 0;
};
inline const char* cudaGetErrorName(cudaError_t) { return "cudaError"; }
inline const char* cudaGetErrorString(cudaError_t) { return "an emulated error"; }
inline cudaError_t cudaGetLastError() { return cudaSuccess; }
// Counted, and made to fail on demand: device_counters.h.
cudaError_t cudaMalloc(void** p, std::size_t n);
cudaError_t cudaFree(void* p);
inline cudaError_t cudaMallocHost(void** p, std::size_t n) {
  *p = std::malloc(n);
  if (*p != nullptr) std::memset(*p, 0xFF, n);
  return *p != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}
inline cudaError_t cudaFreeHost(void* p) {
  std::free(p);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t n, cudaMemcpyKind, cudaStream_t) {
  std::memcpy(to, from, n);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                     std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t) {
  for (std::size_t i = 0; i < height; ++i)
    std::memcpy(static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch,
                width);
  return cudaSuccess;
}
inline cudaError_t cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width,
                                     std::size_t height, cudaStream_t) {
  for (std::size_t i = 0; i < height; ++i) std::memset(static_cast<char*>(to) + i * pitch, value, width);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t n, cudaStream_t) {
  std::memset(to, value, n);
  return cudaSuccess;
}
using cudaEvent_t = void*;
constexpr unsigned cudaEventDisableTiming = 2, cudaStreamNonBlocking = 1;
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return cudaSuccess; }
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) { return cudaSuccess; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  std::strcpy(properties->name, "emulated");
  properties->totalGlobalMem = std::size_t(16) << 30;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  *value = attribute == cudaDevAttrMultiProcessorCount ? 2 : 227 * 1024;
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
inline cudaError_t cudaMemGetInfo(std::size_t* available, std::size_t* total) {
  *available = *total = std::size_t(16) << 30;
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute, int) {
  return cudaSuccess;
}
template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  emulation::run_grid(
      config->gridDim, config->blockDim, [&] { kernel(arguments...); }, config->dynamicSmemBytes);
  return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, std::size_t) {
  *blocks = 1;
  return cudaSuccess;
}

// NOLINTEND(bugprone-reserved-identifier)
