#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/activations/activations.h"
#include "kernels/memory/aligned.h"
#include "kernels/mxfp4/mxfp4.h"
#include "kernels/panel/panel.h"
#include "kernels/routing/metadata.h"

namespace assay::kernels {

// The experts of one layer as a checkpoint stores them: MXFP4 along the input axis, gate and up rows
// interleaved (row 2i is gate i, row 2i + 1 is up i). `hidden` and `intermediate` are multiples of 32.
struct ExpertTensors {
  int64_t experts, hidden, intermediate;
  const uint8_t* gate_up_blocks;        // [experts, 2 * intermediate, hidden / 32, 16]
  const uint8_t* gate_up_scales;        // [experts, 2 * intermediate, hidden / 32]
  std::span<const float> gate_up_bias;  // [experts, 2 * intermediate]
  const uint8_t* down_blocks;           // [experts, hidden, intermediate / 32, 16]
  const uint8_t* down_scales;           // [experts, hidden, intermediate / 32]
  std::span<const float> down_bias;     // [experts, hidden]
  float swiglu_limit;
  // Instead of blocks and scales, bf16 with the input axis first.
  const Bf16* gate_up_bf16 = nullptr;  // [experts, hidden, 2 * intermediate]
  const Bf16* down_bf16 = nullptr;     // [experts, intermediate, hidden]
  // Static FP8 (E4M3FN) activations: what goes into either product is rounded to it. 0: not rounded.
  float gate_up_input_scale = 0, down_input_scale = 0;
};

// y[t] += sum over slots j of weights[t, j] * (W2 a + b2), a = swiglu(W1 x[t] + b1) for the expert ids[t, j],
// added in slot order; a slot with a negative id adds nothing. x, y [tokens, hidden]; ids, weights [tokens,
// k].
void ExpertMatmulReference(const ExpertTensors& experts, const float* x, int64_t tokens, int64_t k,
                           const int32_t* ids, const float* weights, float* y);

// The same, packed once at load: still MXFP4 or bf16, in panels. Gate-up panel p is a panel of the gates
// [32 p, 32 p + 32) and behind it one of their ups, so that their products can be gated on the spot and the
// outcome is a whole block of activations.
struct ExpertWeights {
  int64_t experts = 0, hidden = 0, intermediate = 0;
  float swiglu_limit = 0;
  PanelFormat format = PanelFormat::kMxfp4;
  // With static FP8 activations rows hold codes (EncodeToFp8), and this is what a code of 1 is worth. 0: rows
  // hold numbers.
  float gate_up_input_scale = 0, down_input_scale = 0;
  Aligned<uint8_t> gate_up, down;  // [experts, panels] packed panels
  Aligned<float> gate_up_bias;     // [experts, 2 * intermediate] in panel order
  Aligned<float> down_bias;        // [experts, hidden]

  int64_t GateUpPanels() const { return intermediate / kPanel; }
  int64_t DownPanels() const { return hidden / kPanel; }
  int64_t BytesOfOne() const { return (gate_up.size() + down.size()) / experts; }
};
ExpertWeights PackExperts(const ExpertTensors& experts);

// The kind of rows that experts take where `wish` is asked for: FP8 codes are bf16 numbers, and bf16 weights
// take no int8.
Activations ExpertActivations(bool bf16_weights, bool fp8_codes, Activations wish);

// What both halves need to know of a batch.
struct ExpertBatch {
  const RoutingMetadata& routing;
  int64_t k;  // experts a token
};

// First half, gate-up panels [first, last) (32 intermediate columns each) of every expert: for each sorted
// position p, columns of a[p] = swiglu(W1 x[token of p] + b1). x [tokens] rows of hidden, a [gates] rows of
// intermediate.
void ExpertGateUp(const ExpertWeights& weights, const ExpertBatch& batch, const ActivationRows& x,
                  int64_t first, int64_t last, ActivationRows& a);

// Second half, output panels [first, last) (32 columns of hidden each): y[token] += w * (W2 a[p] + b2) in
// ascending expert, which is slot order because a row's ids ascend. Threads own columns, so no two of them
// add to the same number. gate_weights [tokens, k].
void ExpertDown(const ExpertWeights& weights, const ExpertBatch& batch, const ActivationRows& a,
                const float* gate_weights, int64_t first, int64_t last, float* y);

}  // namespace assay::kernels
