#pragma once

// For device code: which gates a block of threads multiplies, and where their rows and weights lie.
#include "kernels/expert_matmul/expert_matmul_gpu.h"
#include "kernels/gpu/tile_matmul.h"
#include "kernels/swiglu/swiglu_gpu.h"

namespace assay::kernels::gpu {

// What a block of threads computes: gates [first, end) of the sorted ones, all of one expert.
struct GateTile {
  int expert = -1, first = 0, end = 0;
  __device__ GateTile(const ExpertBatch& batch, int rows, int entry) {
    const int32_t scheduled = batch.schedule[entry];
    if (scheduled < 0) return;
    expert = scheduled & 0xFFFF;
    first = batch.expert_offsets[expert] + (scheduled >> 16) * rows;
    end = min(batch.expert_offsets[expert + 1], first + rows);
    end = min(end, static_cast<int>(batch.tokens * batch.k));
  }
};

// Activations by token, for the first product.
struct TokenRows {
  const Bf16* x;
  const int32_t* col_sorted;
  int first, end, k, hidden;
  __device__ const Bf16* operator()(int row) const {
    const int gate = first + row < end ? col_sorted[first + row] : -1;
    return gate >= 0 ? x + static_cast<int64_t>(gate / k) * hidden : nullptr;
  }
};

__device__ inline TokenRows TokenRowsOf(const ExpertMatrix& matrix, const ExpertBatch& batch,
                                        const GateTile& tile, const Bf16* x) {
  return {x, batch.col_sorted, tile.first, tile.end, static_cast<int>(batch.k), static_cast<int>(matrix.k)};
}
// And by sorted position, for the second.
__device__ inline PlainRows GatedRowsOf(const ExpertMatrix& matrix, const GateTile& tile, const Bf16* a) {
  return {a, tile.first, tile.end, static_cast<int>(matrix.k)};
}

// What becomes of a sum of the first product, a gate and its up; rows and columns beyond the matrix are
// passed over.
struct GatedOutput {
  const ExpertLayer& layer;
  const GateTile& tile;
  Bf16* a;
  bool fp8;
  __device__ void operator()(int row, int column, float gate, float up) const {
    const ExpertMatrix& matrix = layer.gate_up;
    if (tile.first + row >= tile.end || column >= matrix.columns) return;
    const float* bias = matrix.bias + tile.expert * matrix.columns + column;
    gate = gate * matrix.input_scale + bias[0];
    up = up * matrix.input_scale + bias[1];
    float value = Swiglu(gate, up, layer.swiglu_limit);
    if (fp8) value = RoundToE4M3(value / layer.down.input_scale);
    a[(tile.first + row) * (matrix.columns / 2) + column / 2] = Narrow(value);
  }
};
// And of the second.
struct DownOutput {
  const ExpertMatrix& matrix;
  const GateTile& tile;
  float* out;
  __device__ void operator()(int row, int column, float first, float second) const {
    if (tile.first + row >= tile.end || column >= matrix.columns) return;
    const float* bias = matrix.bias + tile.expert * matrix.columns + column;
    *reinterpret_cast<float2*>(out + (tile.first + row) * matrix.columns + column) = {
        first * matrix.input_scale + bias[0], second * matrix.input_scale + bias[1]};
  }
};

// y[t, i] += sum over slots of weight * out[position of the slot, i], in slot order; columns of both are
// `hidden`. A token without any expert is left as it is.
__device__ inline void CombineSlots(const ExpertBatch& batch, const float* out, int64_t hidden, int64_t t,
                                    int64_t i, float* y) {
  float sum = 0;
  bool any = false;
#pragma unroll 4
  for (int64_t j = 0; j < batch.k; ++j) {
    const int32_t position = batch.row_sorted[t * batch.k + j];
    const float weight = batch.weights[t * batch.k + j];
    const float value = position >= 0 ? out[position * hidden + i] : 0.0f;
    if (position >= 0) sum += weight * value;
    any |= position >= 0;
  }
  if (any) y[t * hidden + i] += sum;
}

struct Mxfp4Of {
  __device__ static Mxfp4Weights Weights(const ExpertMatrix& matrix, int64_t expert) {
    const int64_t blocks = expert * matrix.columns * (matrix.k / kMxBlock);
    return {matrix.blocks + blocks * kMxBlockBytes, matrix.scales + blocks, static_cast<int>(matrix.columns),
            static_cast<int>(matrix.k)};
  }
};
struct Bf16Of {
  __device__ static Bf16Weights Weights(const ExpertMatrix& matrix, int64_t expert) {
    return {matrix.bf16 + expert * matrix.columns * matrix.k, static_cast<int>(matrix.columns),
            static_cast<int>(matrix.k)};
  }
};

}  // namespace assay::kernels::gpu
