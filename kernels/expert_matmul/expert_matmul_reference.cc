#include <vector>

#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/swiglu/swiglu.h"

namespace assay::kernels {
namespace {

// out[n] = W[expert, n, :] x + bias[expert, n].
std::vector<float> ExpertProduct(const uint8_t* blocks, const uint8_t* scales, std::span<const float> bias,
                                 int64_t expert, int64_t columns, int64_t k, const float* x) {
  const int64_t blocks_a_row = k / kMxBlock;
  std::vector<float> row(static_cast<size_t>(k)), out(static_cast<size_t>(columns));
  for (int64_t n = 0; n < columns; ++n) {
    const int64_t first = (expert * columns + n) * blocks_a_row;
    DecodeMxfp4(blocks + first * kMxBlockBytes, scales + first, blocks_a_row, row.data());
    double sum = bias[static_cast<size_t>(expert * columns + n)];
    for (int64_t i = 0; i < k; ++i) sum += static_cast<double>(row[static_cast<size_t>(i)]) * x[i];
    out[static_cast<size_t>(n)] = static_cast<float>(sum);
  }
  return out;
}

}  // namespace

void ExpertMatmulReference(const ExpertTensors& experts, const float* x, int64_t tokens, int64_t k,
                           const int32_t* ids, const float* weights, float* y) {
  for (int64_t g = 0; g < tokens * k; ++g) {
    if (ids[g] < 0) continue;
    const int64_t t = g / k;
    const std::vector<float> h =
        ExpertProduct(experts.gate_up_blocks, experts.gate_up_scales, experts.gate_up_bias, ids[g],
                      2 * experts.intermediate, experts.hidden, x + t * experts.hidden);
    std::vector<float> a;
    for (size_t i = 0; i < h.size(); i += 2)
      a.push_back(SwigluReference(h[i], h[i + 1], experts.swiglu_limit));
    const std::vector<float> out = ExpertProduct(experts.down_blocks, experts.down_scales, experts.down_bias,
                                                 ids[g], experts.hidden, experts.intermediate, a.data());
    for (int64_t n = 0; n < experts.hidden; ++n) {
      y[t * experts.hidden + n] += weights[g] * out[static_cast<size_t>(n)];
    }
  }
}

}  // namespace assay::kernels
