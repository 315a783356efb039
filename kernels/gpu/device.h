#pragma once

// What device code of every op uses. Threads work in groups of 32 lanes on both vendors; on AMD a wave holds
// two.
#include <cstdint>

#include "kernels/bf16/bf16.h"
#include "kernels/gpu/hip_names.h"
#include "kernels/gpu/runtime.h"

namespace assay::kernels::gpu {

constexpr int kLanes = 32;

__device__ inline int Lane() {
  return static_cast<int>(threadIdx.x) % kLanes;
}
__device__ inline int GroupOfLanes() {
  return static_cast<int>(threadIdx.x) / kLanes;
}

// The value of the lane whose number differs by the bits of `mask`, and that of lane `from`.
template <class T>
__device__ inline T ShuffleXor(T value, int mask) {
#if defined(ASSAY_GPU_HIP)
  return __shfl_xor(value, mask, kLanes);
#else
  return __shfl_xor_sync(0xFFFFFFFFu, value, mask, kLanes);
#endif
}
template <class T>
__device__ inline T ShuffleFrom(T value, int from) {
#if defined(ASSAY_GPU_HIP)
  return __shfl(value, from, kLanes);
#else
  return __shfl_sync(0xFFFFFFFFu, value, from, kLanes);
#endif
}
template <class T>
__device__ inline T ShuffleUp(T value, int by) {
#if defined(ASSAY_GPU_HIP)
  return __shfl_up(value, by, kLanes);
#else
  return __shfl_up_sync(0xFFFFFFFFu, value, by, kLanes);
#endif
}
// The lanes of a group see each other's shared memory after this.
__device__ inline void SyncLanes() {
#if defined(ASSAY_GPU_HIP)
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
#else
  __syncwarp();
#endif
}

// Over the lanes of a group, in one fixed order; every lane gets the result.
__device__ inline float SumLanes(float value) {
  for (int mask = kLanes / 2; mask > 0; mask /= 2) value += ShuffleXor(value, mask);
  return value;
}
__device__ inline float MaxLanes(float value) {
  for (int mask = kLanes / 2; mask > 0; mask /= 2) value = fmaxf(value, ShuffleXor(value, mask));
  return value;
}
__device__ inline uint64_t MaxLanes(uint64_t value) {
  for (int mask = kLanes / 2; mask > 0; mask /= 2) {
    const uint64_t other = ShuffleXor(static_cast<unsigned long long>(value), mask);
    value = other > value ? other : value;
  }
  return value;
}
// Over a whole block of threads; `shared` holds a number for each group of lanes.
__device__ inline float SumBlock(float value, float* shared) {
  value = SumLanes(value);
  if (Lane() == 0) shared[GroupOfLanes()] = value;
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < static_cast<int>(blockDim.x) / kLanes; ++i) sum += shared[i];
  return sum;
}

__device__ inline float Widen(Bf16 bits) {
  return __uint_as_float(static_cast<uint32_t>(bits) << 16);
}
// The two halves of a word.
__device__ inline float WidenLow(uint32_t pair) {
  return __uint_as_float(pair << 16);
}
__device__ inline float WidenHigh(uint32_t pair) {
  return __uint_as_float(pair & 0xFFFF0000u);
}
// Nearest, ties to even; a NaN stays a NaN. As ToBf16 of the host.
__device__ inline Bf16 Narrow(float value) {
  const uint32_t bits = __float_as_uint(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return 0x7FC0;
  return static_cast<Bf16>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}
__device__ inline uint32_t NarrowPair(float low, float high) {
  return Narrow(low) | static_cast<uint32_t>(Narrow(high)) << 16;
}
// The same of two numbers that bf16 holds exactly.
__device__ inline uint32_t UpperHalves(float low, float high) {
  return __float_as_uint(low) >> 16 | (__float_as_uint(high) & 0xFFFF0000u);
}

// To the nearest OCP E4M3 number, ties to even, beyond 448 saturated; a NaN stays a NaN. As
// DecodeFp8(EncodeFp8(x)) of the host, and exact in bf16.
__device__ inline float RoundToE4M3(float x) {
  if (isnan(x)) return x;
  const float size = fminf(fabsf(x), 448.0f);
  if (size == 0) return x;
  const int exponent = max(ilogbf(size), -6);
  return copysignf(ldexpf(rintf(ldexpf(size, 3 - exponent)), exponent - 3), x);
}

// On NVIDIA a kernel starts while the one before it still runs (ASSAY_LAUNCH), so every kernel calls this, in
// every thread: what comes before it may read only weights and what was written two kernels ago or earlier,
// with LoadFresh where that was in this step, and may write nothing. Returns when the kernel before has
// ended; the kernel after starts once every block of this one has come here, which keeps it at two at a time.
__device__ inline void AwaitEarlier() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}
// Not from a cache that may still hold what was there before the kernel began.
__device__ inline int32_t LoadFresh(const int32_t* from) {
#if defined(ASSAY_GPU_HIP)
  return *from;
#else
  return __ldcg(from);
#endif
}
// Brings the line of memory nearer, and promises nothing: what it holds may still be written.
__device__ inline void Prefetch(const void* from) {
#if defined(ASSAY_GPU_HIP)
  (void)from;
#else
  asm volatile("prefetch.global.L2 [%0];" ::"l"(from));
#endif
}

// A kernel's parameters, called once by every thread. AMD keeps them in scalar registers, of which many
// parameters with many uses take more than there are.
template <class T>
__device__ const T& InSharedMemory(const T& parameters) {
#if defined(ASSAY_GPU_HIP)
  __shared__ T copy;
  if (threadIdx.x == 0) copy = parameters;
  __syncthreads();
  return copy;
#else
  return parameters;
#endif
}

// Sixteen bytes from memory, or zeros.
__device__ inline uint4 LoadOrZero(bool there, const void* from) {
  return there ? *static_cast<const uint4*>(from) : uint4{0, 0, 0, 0};
}

inline hipStream_t AsStream(void* stream) {
  return static_cast<hipStream_t>(stream);
}
inline unsigned Blocks(int64_t items, int64_t a_block) {
  return static_cast<unsigned>((items + a_block - 1) / a_block);
}
// Blocks of threads that share a row of so many items: one where there are rows enough to fill the device.
inline unsigned BlocksOfRow(int64_t rows, int64_t items, int64_t a_block) {
  return rows <= 64 ? Blocks(items, a_block) : 1;
}

// Blocks of threads of a kernel that the device can run at once.
template <class... Parameters>
int64_t BlocksAtOnce(void (*kernel)(Parameters...), int threads) {
  int of_multiprocessor = 0, multiprocessors = 0;
  hipError_t error = hipOccupancyMaxActiveBlocksPerMultiprocessor(&of_multiprocessor, kernel, threads, 0);
  if (error == hipSuccess)
    error = hipDeviceGetAttribute(&multiprocessors, hipDeviceAttributeMultiprocessorCount, 0);
  if (error != hipSuccess) DeviceFailed("asking how many blocks run at once", hipGetErrorString(error));
  return int64_t{of_multiprocessor} * multiprocessors;
}

template <class... Parameters, class... Arguments>
void Launch(void (*kernel)(Parameters...), dim3 grid, dim3 block, void* stream,
            const Arguments&... arguments) {
#if defined(ASSAY_GPU_HIP)
  hipLaunchKernelGGL(kernel, grid, block, 0, AsStream(stream), static_cast<Parameters>(arguments)...);
#else
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.stream = AsStream(stream);
  config.attrs = &early;
  config.numAttrs = KernelsOverlap() ? 1 : 0;
  (void)cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...);  // CheckLaunch asks
#endif
}

}  // namespace assay::kernels::gpu

// kernel<<<grid, block>>>(...) in `stream`, early where the device can (AwaitEarlier), and a check that names
// it; `kernel` is a name or a pointer. Nothing is launched for an empty grid.
#define ASSAY_LAUNCH(what, kernel, grid, block, stream, ...)                                \
  do {                                                                                      \
    const dim3 launch_grid = (grid);                                                        \
    if (launch_grid.x > 0 && launch_grid.y > 0 && launch_grid.z > 0) {                      \
      ::assay::kernels::gpu::Launch(kernel, launch_grid, dim3(block), stream, __VA_ARGS__); \
      ::assay::kernels::gpu::CheckLaunch(what, stream);                                     \
    }                                                                                       \
  } while (false)
