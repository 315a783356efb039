#pragma once

#include <vector>

#include "engine/model/checkpoint.h"
#include "kernels/expert_matmul/expert_matmul.h"

namespace assay::engine {

// A layer's experts in the one form that kernels take, whatever form the checkpoint has: gates and ups
// interleaved, all experts behind one another. Points into the mapped files where they have it that way, and
// into itself otherwise.
class LayerExperts {
 public:
  LayerExperts(const ModelConfig& config, const LayerTensors& layer);
  LayerExperts(const LayerExperts&) = delete;

  const kernels::ExpertTensors& tensors() const { return tensors_; }

 private:
  const uint8_t* Joined(const std::vector<std::span<const uint8_t>>& parts, int64_t row_bytes,
                        GateUpOrder order);
  const uint8_t* Swapped(const uint8_t* scales, int64_t count);  // a planted fault

  std::vector<std::vector<uint8_t>> joined_;
  std::vector<float> gate_up_bias_, down_bias_;
  kernels::ExpertTensors tensors_{};
};

// Warns of a layer whose scales differ between experts: one serves all, the largest.
void WarnOfUnequalScales(const Checkpoint& checkpoint);

// How much more the biases of gate_up_proj differ between their halves than between even and odd rows, in
// standard errors of the difference. Gates and ups have different biases in a trained model, so a number far
// above zero says separate and one far below zero says interleaved.
double SeparationOfGateUp(const ModelConfig& config, const LayerTensors& layer);

// Warns if the biases of most layers say another order than config.json.
void WarnOfUnlikelyGateUpOrder(const Checkpoint& checkpoint);

}  // namespace assay::engine
