#include <vector>

#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/fp8/fp8.h"
#include "kernels/swiglu/swiglu.h"

namespace assay::kernels {
namespace {

// One of the two matrices.
struct Matrix {
  const uint8_t* blocks;
  const uint8_t* scales;
  const Bf16* bf16;  // or null
  std::span<const float> bias;
  float input_scale;
  int64_t columns, k;
};

// W[expert, column, :]
std::vector<float> WeightRow(const Matrix& w, int64_t expert, int64_t column) {
  std::vector<float> row(static_cast<size_t>(w.k));
  if (w.bf16 == nullptr) {
    const int64_t first = (expert * w.columns + column) * (w.k / kMxBlock);
    DecodeMxfp4(w.blocks + first * kMxBlockBytes, w.scales + first, w.k / kMxBlock, row.data());
    return row;
  }
  for (int64_t i = 0; i < w.k; ++i)
    row[static_cast<size_t>(i)] = FromBf16(w.bf16[(expert * w.k + i) * w.columns + column]);
  return row;
}

// out[n] = W[expert, n, :] x + bias[expert, n].
std::vector<float> ExpertProduct(const Matrix& w, int64_t expert, const float* input) {
  std::vector<float> x(input, input + w.k), out(static_cast<size_t>(w.columns));
  if (w.input_scale > 0) RoundToFp8Reference(Fp8::kE4M3FN, w.input_scale, w.k, x.data());
  for (int64_t n = 0; n < w.columns; ++n) {
    const std::vector<float> row = WeightRow(w, expert, n);
    double sum = w.bias[static_cast<size_t>(expert * w.columns + n)];
    for (size_t i = 0; i < row.size(); ++i) sum += static_cast<double>(row[i]) * x[i];
    out[static_cast<size_t>(n)] = static_cast<float>(sum);
  }
  return out;
}

}  // namespace

void ExpertMatmulReference(const ExpertTensors& experts, const float* x, int64_t tokens, int64_t k,
                           const int32_t* ids, const float* weights, float* y) {
  const Matrix gate_up{experts.gate_up_blocks, experts.gate_up_scales,      experts.gate_up_bf16,
                       experts.gate_up_bias,   experts.gate_up_input_scale, 2 * experts.intermediate,
                       experts.hidden};
  const Matrix down{experts.down_blocks,      experts.down_scales, experts.down_bf16,   experts.down_bias,
                    experts.down_input_scale, experts.hidden,      experts.intermediate};
  for (int64_t g = 0; g < tokens * k; ++g) {
    if (ids[g] < 0) continue;
    const int64_t t = g / k;
    const std::vector<float> h = ExpertProduct(gate_up, ids[g], x + t * experts.hidden);
    std::vector<float> a;
    for (size_t i = 0; i < h.size(); i += 2)
      a.push_back(SwigluReference(h[i], h[i + 1], experts.swiglu_limit));
    const std::vector<float> out = ExpertProduct(down, ids[g], a.data());
    for (int64_t n = 0; n < experts.hidden; ++n) {
      y[t * experts.hidden + n] += weights[g] * out[static_cast<size_t>(n)];
    }
  }
}

}  // namespace assay::kernels
