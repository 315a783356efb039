#include "kernels/gpu/device.h"
#include "kernels/rotary/rotary_gpu.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 256;

__device__ Bf16 Kept(float value, float scale) {
  return Narrow(scale > 0 ? RoundToE4M3(value / scale) * scale : value);
}

// Grid (rows, blocks of a row).
__global__ void __launch_bounds__(kThreads) RotateRow(RotaryRows in) {
  const int64_t t = blockIdx.x;
  const int32_t position = in.positions[t];
  if (position < 0) return AwaitEarlier();
  const PagedCache& cache = in.cache;
  const int dim = static_cast<int>(cache.head_dim), half = dim / 2;
  const int heads = static_cast<int>(in.heads), kv_heads = static_cast<int>(cache.kv_heads);
  Bf16* row = in.qkv + t * (heads + 2 * kv_heads) * dim;
  const float* cos = in.cos + static_cast<int64_t>(position) * half;
  const float* sin = in.sin + static_cast<int64_t>(position) * half;
  const int64_t block = in.tables.Block(t, position, cache.block_size);
  const int64_t slot = position % cache.block_size;
  AwaitEarlier();
  const int pairs = (heads + kv_heads) * half, items = pairs + kv_heads * dim;
  const Bf16* values = row + (heads + kv_heads) * dim;
  const int first_item = static_cast<int>(blockIdx.y) * kThreads + static_cast<int>(threadIdx.x);
  for (int item = first_item; item < items; item += static_cast<int>(gridDim.y) * kThreads) {
    if (item >= pairs) {
      const int i = item - pairs;
      const Bf16 value = values[i];
      cache.Value(block, i / dim, slot)[i % dim] =
          in.value_scale > 0 ? Kept(Widen(value), in.value_scale) : value;
      continue;
    }
    const int head = item / half, d = item % half;
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
}

}  // namespace

void RotateAndStore(void* stream, const RotaryRows& rows) {
  const int64_t items = (rows.heads + 3 * rows.cache.kv_heads) * rows.cache.head_dim / 2;
  const dim3 grid(static_cast<unsigned>(rows.count), BlocksOfRow(rows.count, items, kThreads));
  ASSAY_LAUNCH("rotary", RotateRow, grid, kThreads, stream, rows);
}

}  // namespace assay::kernels::gpu
