// Shared memory by its address, a 32-bit number, and copies into it that the threads do not wait for, where
// the device can (sm_80 on); elsewhere they are done at once.
#pragma once

#include <cuda_runtime.h>

namespace semicrf::cuda {

extern __shared__ unsigned char shared_memory[];

#if defined(__CUDA_ARCH__)
// Addresses grow from here in bytes.
__device__ __forceinline__ unsigned shared_base() {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared_memory));
}
__device__ __forceinline__ void load_shared(unsigned at, float* to) {
  asm volatile("ld.shared.f32 %0, [%1];" : "=f"(*to) : "r"(at));
}
__device__ __forceinline__ void load_shared(unsigned at, double* to) {
  asm volatile("ld.shared.f64 %0, [%1];" : "=d"(*to) : "r"(at));
}
__device__ __forceinline__ void load_shared(unsigned at, int* to) {
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(*to) : "r"(at));
}
__device__ __forceinline__ void store_shared(unsigned at, double value) {
  asm volatile("st.shared.f64 [%0], %1;" ::"r"(at), "d"(value) : "memory");
}
__device__ __forceinline__ void store_shared(unsigned at, int value) {
  asm volatile("st.shared.s32 [%0], %1;" ::"r"(at), "r"(value) : "memory");
}
#else
__device__ inline unsigned shared_base() { return 0; }
template <class T>
__device__ void load_shared(unsigned at, T* to) {
  *to = *reinterpret_cast<const T*>(shared_memory + at);
}
template <class T>
__device__ void store_shared(unsigned at, T value) {
  *reinterpret_cast<T*>(shared_memory + at) = value;
}
#endif
template <class T>
__device__ __forceinline__ T shared_at(unsigned at) {
  T value;
  load_shared(at, &value);
  return value;
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
// 4, 8 or 16 bytes at multiples of as many.
template <int kBytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(to), "l"(from), "n"(kBytes) : "memory");
}
// What this thread copied since the last call is a group.
__device__ __forceinline__ void end_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
// Until all groups of this thread but the last kPending have arrived.
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}
#else
template <int kBytes>
__device__ __forceinline__ void copy_async(unsigned to, const void* from) {
  for (int i = 0; i < kBytes / 4; ++i)
    store_shared(to + 4 * static_cast<unsigned>(i), static_cast<const int*>(from)[i]);
}
__device__ __forceinline__ void end_copy_group() {}
template <int kPending>
__device__ __forceinline__ void wait_for_copies() {}
#endif

}  // namespace semicrf::cuda
