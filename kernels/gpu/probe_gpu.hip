#include <algorithm>

#include "kernels/dense_matmul/dense_matmul_gpu.h"
#include "kernels/gpu/device.h"
#include "kernels/gpu/probe.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 512;
constexpr int kPasses = 5;

// XOR of everything, so that nothing is left out.
__global__ void __launch_bounds__(kThreads) ReadAll(const uint4* from, int64_t count, uint32_t* result) {
  AwaitEarlier();
  uint32_t sum = 0;
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads;
#pragma unroll 8
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step) {
    const uint4 words = from[i];
    sum ^= words.x ^ words.y ^ words.z ^ words.w;
  }
  if (sum == 0x12345678u) *result = sum;
}

// Numbers about as large as one another, of both signs.
__global__ void __launch_bounds__(kThreads) FillWithNoise(Bf16* to, int64_t count) {
  AwaitEarlier();
  const int64_t i = static_cast<int64_t>(blockIdx.x) * kThreads + threadIdx.x;
  if (i >= count) return;
  uint32_t bits = static_cast<uint32_t>(i) * 2654435761u;
  bits ^= bits >> 15;
  bits *= 2246822519u;
  to[i] = Narrow((static_cast<float>(bits >> 8) / 8388608.0f - 1) * 0.5f);
}

template <class Work>
double BestSeconds(const Stream& stream, const Work& work) {
  work();  // warm
  float best = 1e30f;
  for (int pass = 0; pass < kPasses; ++pass) best = std::min(best, stream.Time(work));
  return static_cast<double>(best) / 1e3;
}

}  // namespace

double ReadBandwidth(const Stream& stream, int64_t bytes) {
  const DeviceBuffer<uint4> memory(bytes / 16, "memory to probe");
  const DeviceBuffer<uint32_t> result(1, "memory to probe");
  stream.Fill(memory.data(), 0x5A, memory.bytes());
  const double seconds = BestSeconds(stream, [&] {
    ASSAY_LAUNCH("read probe", ReadAll, dim3(132 * 8), kThreads, stream.handle(), memory.data(),
                 memory.size(), result.data());
  });
  return static_cast<double>(memory.bytes()) / seconds;
}

double MatmulRate(const Stream& stream, int64_t size) {
  auto backend = MakeLibraryBackend();
  if (backend == nullptr) backend = MakeTileBackend();
  const DeviceBuffer<Bf16> x(size * size, "memory to probe"), w(size * size, "memory to probe");
  const DeviceBuffer<Bf16> y(size * size, "memory to probe");
  for (const auto* buffer : {&x, &w}) {
    ASSAY_LAUNCH("noise", FillWithNoise, dim3(Blocks(buffer->size(), kThreads)), kThreads, stream.handle(),
                 buffer->data(), buffer->size());
  }
  const double seconds = BestSeconds(stream, [&] {
    backend->Multiply(stream.handle(),
                      {x.data(), size, size, w.data(), size, nullptr, nullptr, y.data(), nullptr, false});
  });
  const auto n = static_cast<double>(size);
  return 2 * n * n * n / seconds;
}

}  // namespace assay::kernels::gpu
