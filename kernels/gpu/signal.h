#pragma once

// For device code: how blocks of threads of one kernel tell each other what is done, by counters in device
// memory. Every thread of a block calls these.
//
// A block may only wait for what running blocks do without waiting for it: whether the blocks that it waits
// for run already is the caller's to know, as nothing says that all blocks of a grid run at once.
#include "kernels/gpu/device.h"

namespace assay::kernels::gpu {

// What the thread wrote before is there for who has seen what it writes after, and the other way round. On
// NVIDIA the fence of one thread is also for what it has seen of its block's others at a __syncthreads.
__device__ inline void FenceDevice() {
#if defined(ASSAY_GPU_HIP)
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "agent");
#else
  asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}
// On AMD each wave waits for its own.
__device__ inline void FenceEachThread() {
#if defined(ASSAY_GPU_HIP)
  FenceDevice();
#endif
}

// One more in the counter, once all threads of the block have come here; what they wrote before is there for
// whoever awaits it.
__device__ inline void Signal(uint32_t* counter) {
  FenceEachThread();
  __syncthreads();
  if (threadIdx.x != 0) return;
  FenceDevice();
  atomicAdd(counter, 1u);
}

// Returns once the counter is `target`.
__device__ inline void AwaitSignals(const uint32_t* counter, uint32_t target) {
  if (threadIdx.x == 0) {
#if defined(ASSAY_GPU_HIP)
    while (__hip_atomic_load(counter, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT) != target) {
    }
#else
    for (uint32_t seen = target + 1; seen != target;)
      asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(counter) : "memory");
#endif
    FenceDevice();
  }
  __syncthreads();
  FenceEachThread();
}

}  // namespace assay::kernels::gpu
