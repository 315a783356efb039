#include "kernels/attention/kv_numbers.h"
#include "kernels/gpu/device.h"
#include "kernels/rotary/rotary_gpu.h"

namespace assay::kernels::gpu {
namespace {

constexpr int kThreads = 256;

__device__ void Keep(float number, float, Bf16& to) {
  to = Narrow(number);
}
__device__ void Keep(float number, float scale, E4M3& to) {
  to = EncodeE4M3(number / scale);
}

// Grid (rows, blocks of a row). Number: of the cache.
template <class Number>
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
      Keep(Widen(values[i]), cache.value_scale, cache.Value<Number>(block, i / dim, slot)[i % dim]);
      continue;
    }
    const int head = item / half, d = item % half;
    const float a = Widen(row[head * dim + d]), b = Widen(row[head * dim + d + half]);
    const float first = a * cos[d] - b * sin[d], second = b * cos[d] + a * sin[d];
    if (head < heads) {
      row[head * dim + d] = Narrow(first);
      row[head * dim + d + half] = Narrow(second);
    } else {
      Number* key = cache.Key<Number>(block, head - heads, slot);
      Keep(first, cache.key_scale, key[d]);
      Keep(second, cache.key_scale, key[d + half]);
    }
  }
}

}  // namespace

void RotateAndStore(void* stream, const RotaryRows& rows) {
  const int64_t items = (rows.heads + 3 * rows.cache.kv_heads) * rows.cache.head_dim / 2;
  const dim3 grid(static_cast<unsigned>(rows.count), BlocksOfRow(rows.count, items, kThreads));
  const auto kernel = rows.cache.fp8 ? RotateRow<E4M3> : RotateRow<Bf16>;
  ASSAY_LAUNCH("rotary", kernel, grid, kThreads, stream, rows);
}

}  // namespace assay::kernels::gpu
