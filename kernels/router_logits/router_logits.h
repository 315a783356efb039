#pragma once

#include <cstdint>
#include <span>

#include "kernels/memory/aligned.h"

namespace assay::kernels {

// logits[t, e] = sum over i of x[t, i] * w[e, i] + bias[e], all in float32: which experts a token takes must
// not hang on the rounding of its activations. The definition is DenseMatmulReference.
struct RouterWeights {
  int64_t experts = 0, hidden = 0;
  int64_t padded = 0;      // experts rounded up to 16
  Aligned<float> weights;  // [hidden, padded]
  Aligned<float> bias;     // [padded]
};
RouterWeights PackRouter(std::span<const float> weights, std::span<const float> bias, int64_t experts,
                         int64_t hidden);

// logits [rows, experts]. One chain of additions in ascending i an output.
void RouterLogits(const RouterWeights& weights, const float* x, int64_t x_stride, int64_t rows,
                  float* logits);

}  // namespace assay::kernels
