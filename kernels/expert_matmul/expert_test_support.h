#pragma once

#include "kernels/expert_matmul/expert_matmul.h"
#include "kernels/test_data.h"

namespace assay::kernels {

// A layer's experts with random MXFP4 weights, whose scales keep results within reason.
struct RandomExperts {
  std::vector<uint8_t> gate_up_blocks, gate_up_scales, down_blocks, down_scales;
  std::vector<float> gate_up_bias, down_bias;
  ExpertTensors tensors;

  RandomExperts(int64_t experts, int64_t hidden, int64_t intermediate)
      : RandomExperts(experts, hidden, intermediate, static_cast<uint32_t>(experts + hidden + intermediate)) {
  }
  RandomExperts(int64_t experts, int64_t hidden, int64_t intermediate, uint32_t seed) {
    TestData data(seed);
    gate_up_blocks = data.Bytes(experts * 2 * intermediate * hidden / 2);
    gate_up_scales = data.Bytes(experts * 2 * intermediate * hidden / 32, 119, 123);
    down_blocks = data.Bytes(experts * hidden * intermediate / 2);
    down_scales = data.Bytes(experts * hidden * intermediate / 32, 119, 123);
    gate_up_bias = data.Values(experts * 2 * intermediate, 0.1f);
    down_bias = data.Values(experts * hidden, 0.1f);
    tensors = {experts,
               hidden,
               intermediate,
               gate_up_blocks.data(),
               gate_up_scales.data(),
               gate_up_bias,
               down_blocks.data(),
               down_scales.data(),
               down_bias,
               7.0f};
  }
  RandomExperts(const RandomExperts&) = delete;  // the tensors point into it
};

}  // namespace assay::kernels
