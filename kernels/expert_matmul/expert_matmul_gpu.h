#pragma once

#include <cstdint>

#include "kernels/bf16/bf16.h"
#include "kernels/gpu/runtime.h"

namespace assay::kernels::gpu {

// One of the two matrices of a layer's experts in device memory: MXFP4 as checkpoints have it, or bf16
// [experts, columns, k] where `bf16` is not null.
struct ExpertMatrix {
  const uint8_t* blocks;  // [experts, columns, k / 32, 16]
  const uint8_t* scales;  // [experts, columns, k / 32]
  const Bf16* bf16;
  const float* bias;  // [experts, columns]
  int64_t columns, k;
  float input_scale;  // what an activation of 1 is worth: FP8 codes; else 1
  int largest_scale;  // of the scales' bytes
  bool fp8;           // its activations are FP8 codes
};

struct ExpertLayer {
  ExpertMatrix gate_up, down;  // gates and ups interleaved, as ExpertTensors has them
  float swiglu_limit;
};

// Which gates there are and how they are cut into tiles (routing_gpu.h).
struct ExpertBatch {
  int64_t tokens, k, experts, block;  // block: 16, 64 or 128 gates a tile
  const int32_t *expert_offsets, *col_sorted, *row_sorted, *schedule;
  const float* weights;  // [tokens, k]
  bool
      few_rows;  // by vector products instead of tiles where the format allows it: another order of additions
};
// Gates a tile for so many tokens: as many as an expert has to expect, and not below 16.
int64_t ExpertBlock(int64_t tokens, int64_t k, int64_t experts);
// Whether so many tokens are faster with few_rows.
bool FewRowsAreFaster(int64_t tokens, int64_t k, int64_t experts);

// a[p] = swiglu(W1 x[token of p] + b1) for each sorted position p, as bf16, or as FP8 codes of a /
// down.input_scale with `fp8`. x [tokens, hidden], a [gates, intermediate].
void ExpertGateUp(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* x, Bf16* a,
                  bool fp8);
// out[p] = W2 a[p] + b2, [gates, hidden].
void ExpertDown(void* stream, const ExpertLayer& layer, const ExpertBatch& batch, const Bf16* a, float* out);
// y[t] += sum over slots of weight * out[position of the slot], in slot order. y [tokens, hidden].
void ExpertCombine(void* stream, const ExpertBatch& batch, const float* out, int64_t hidden, float* y);

}  // namespace assay::kernels::gpu
