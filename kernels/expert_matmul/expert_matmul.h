#pragma once

#include <cstdint>
#include <span>
#include <vector>

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
};

// y[t] += sum over slots j of weights[t, j] * (W2 a + b2), a = swiglu(W1 x[t] + b1) for the expert ids[t, j],
// added in slot order; a slot with a negative id adds nothing. x, y [tokens, hidden]; ids, weights [tokens,
// k].
void ExpertMatmulReference(const ExpertTensors& experts, const float* x, int64_t tokens, int64_t k,
                           const int32_t* ids, const float* weights, float* y);

// The same, packed once at load: still MXFP4, in panels. Gate-up panel p holds gates [16 p, 16 p + 16) and
// then their ups, so that a panel's product can be gated on the spot.
struct ExpertWeights {
  int64_t experts = 0, hidden = 0, intermediate = 0;
  float swiglu_limit = 0;
  Aligned<uint8_t> gate_up, down;  // [experts, panels] packed panels
  Aligned<float> gate_up_bias;     // [experts, 2 * intermediate] in panel order
  Aligned<float> down_bias;        // [experts, hidden]

  int64_t GateUpPanels() const { return intermediate / 16; }
  int64_t DownPanels() const { return hidden / kPanel; }
};
ExpertWeights PackExperts(const ExpertTensors& experts);

// Panels decoded at a time; one per thread.
struct ExpertScratch {
  explicit ExpertScratch(const ExpertWeights& weights);
  Aligned<Bf16> panels;
  int64_t panels_of_gate_up, panels_of_down;
};

// What both halves need to know of a batch. Rows of activations are `terms` * width bf16 numbers
// (SplitToBf16).
struct ExpertBatch {
  const RoutingMetadata& routing;
  int64_t k;  // experts a token
  int64_t terms;
};

// First half, gate-up panels [first, last) (16 intermediate columns each) of every expert: for each sorted
// position p, a[p] = split(swiglu(W1 x[token of p] + b1)). x [tokens, terms * hidden], a [gates, terms *
// intermediate].
void ExpertGateUp(const ExpertWeights& weights, const ExpertBatch& batch, const Bf16* x, int64_t first,
                  int64_t last, ExpertScratch& scratch, Bf16* a);

// Second half, output panels [first, last) (32 columns of hidden each): y[token] += w * (W2 a[p] + b2) in
// ascending expert, which is slot order because a row's ids ascend. Threads own columns, so no two of them
// add to the same number. gate_weights [tokens, k].
void ExpertDown(const ExpertWeights& weights, const ExpertBatch& batch, const Bf16* a,
                const float* gate_weights, int64_t first, int64_t last, ExpertScratch& scratch, float* y);

}  // namespace assay::kernels
