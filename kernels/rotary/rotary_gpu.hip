#include "kernels/gpu/device.h"
#include "kernels/rotary/rotary_gpu.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 256;

__device__ Bf16 Kept(float value, float scale) {
  return Narrow(scale > 0 ? RoundToE4M3(value / scale) * scale : value);
}

__global__ void __launch_bounds__(kThreads) RotateRow(RotaryRows in) {
  const int64_t t = blockIdx.x;
  const int32_t position = in.positions[t];
  if (position < 0) return;
  const PagedCache& cache = in.cache;
  const int dim = static_cast<int>(cache.head_dim), half = dim / 2;
  const int heads = static_cast<int>(in.heads), kv_heads = static_cast<int>(cache.kv_heads);
  Bf16* row = in.qkv + t * (heads + 2 * kv_heads) * dim;
  const float* cos = in.cos + static_cast<int64_t>(position) * half;
  const float* sin = in.sin + static_cast<int64_t>(position) * half;
  const int64_t block = in.tables.Block(t, position, cache.block_size);
  const int64_t slot = position % cache.block_size;
  for (int i = threadIdx.x; i < (heads + kv_heads) * half; i += kThreads) {
    const int head = i / half, d = i % half;
    const float a = Widen(row[head * dim + d]), b = Widen(row[head * dim + d + half]);
    const float first = a * cos[d] - b * sin[d], second = b * cos[d] + a * sin[d];
    if (head < heads) {
      row[head * dim + d] = Narrow(first);
      row[head * dim + d + half] = Narrow(second);
    } else {
      Bf16* key = cache.Key(block, head - heads, slot);
      key[d] = Kept(first, in.key_scale);
      key[d + half] = Kept(second, in.key_scale);
    }
  }
  const Bf16* values = row + (heads + kv_heads) * dim;
  for (int i = threadIdx.x; i < kv_heads * dim; i += kThreads) {
    const Bf16 value = values[i];
    cache.Value(block, i / dim, slot)[i % dim] =
        in.value_scale > 0 ? Kept(Widen(value), in.value_scale) : value;
  }
}

}  // namespace

void RotateAndStore(void* stream, const RotaryRows& rows) {
  ASSAY_LAUNCH("rotary", RotateRow, dim3(static_cast<unsigned>(rows.count)), kThreads, stream, rows);
}

}  // namespace assay::kernels::gpu
