#include "engine/model/layer_experts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/log.h"
#include "base/planted_fault.h"

namespace assay::engine {
namespace {

// Of the rows [gate 0 .. gate n, up 0 .. up n] to [gate 0, up 0, gate 1, ...], `row_bytes` each.
void Interleave(std::span<const uint8_t> from, int64_t row_bytes, uint8_t* to) {
  const auto bytes = static_cast<size_t>(row_bytes);
  const size_t half = from.size() / bytes / 2;
  for (size_t i = 0; i < half; ++i) {
    std::memcpy(to + 2 * i * bytes, &from[i * bytes], bytes);
    std::memcpy(to + (2 * i + 1) * bytes, &from[(half + i) * bytes], bytes);
  }
}

std::vector<float> Biases(const std::vector<TensorView>& parts, GateUpOrder order) {
  std::vector<float> all;
  for (const TensorView& part : parts) {
    const std::vector<float> one = Widen(part);
    const size_t half = one.size() / 2;
    for (size_t i = 0; i < one.size(); ++i) {
      all.push_back(order == GateUpOrder::kSeparate ? one[i % 2 * half + i / 2] : one[i]);
    }
  }
  return all;
}

float Largest(const std::vector<float>& scales) {
  return scales.empty() ? 0 : *std::max_element(scales.begin(), scales.end());
}

bool Unequal(const std::vector<float>& scales) {
  return std::adjacent_find(scales.begin(), scales.end(), std::not_equal_to<>()) != scales.end();
}

// |difference of the means| of two samples in its standard errors.
class Difference {
 public:
  void Add(bool second, double value) {
    ++n_[second];
    sum_[second] += value;
    squares_[second] += value * value;
  }
  double InErrors() const {
    double mean[2], variance = 1e-30;
    for (int i = 0; i < 2; ++i) {
      mean[i] = sum_[i] / n_[i];
      variance += (squares_[i] / n_[i] - mean[i] * mean[i]) / n_[i];
    }
    return std::abs(mean[0] - mean[1]) / std::sqrt(variance);
  }

 private:
  double n_[2] = {}, sum_[2] = {}, squares_[2] = {};
};

}  // namespace

LayerExperts::LayerExperts(const ModelConfig& c, const LayerTensors& layer) {
  const GateUpOrder order = c.quantization.gate_up_order;
  gate_up_bias_ = Biases(layer.gate_up.biases, order);
  down_bias_ = Biases(layer.down.biases, GateUpOrder::kInterleaved);
  if (Planted(Fault::kMissingExpertBias)) {
    std::fill(gate_up_bias_.begin(), gate_up_bias_.end(), 0.0f);
    std::fill(down_bias_.begin(), down_bias_.end(), 0.0f);
  }
  tensors_.experts = c.num_local_experts;
  tensors_.hidden = c.hidden_size;
  tensors_.intermediate = c.intermediate_size;
  tensors_.gate_up_bias = gate_up_bias_;
  tensors_.down_bias = down_bias_;
  tensors_.swiglu_limit = static_cast<float>(c.swiglu_limit);
  tensors_.gate_up_input_scale = Largest(layer.gate_up.input_scales);
  tensors_.down_input_scale = Largest(layer.down.input_scales);
  if (c.quantization.experts == ExpertFormat::kBf16) {
    tensors_.gate_up_bf16 = layer.gate_up.weight.data();
    tensors_.down_bf16 = layer.down.weight.data();
    return;
  }
  const int64_t hidden_blocks = c.hidden_size / 32, inter_blocks = c.intermediate_size / 32;
  tensors_.gate_up_blocks = Joined(layer.gate_up.blocks, hidden_blocks * 16, order);
  tensors_.gate_up_scales = Joined(layer.gate_up.scales, hidden_blocks, order);
  tensors_.down_blocks = Joined(layer.down.blocks, inter_blocks * 16, GateUpOrder::kInterleaved);
  tensors_.down_scales = Joined(layer.down.scales, inter_blocks, GateUpOrder::kInterleaved);
  if (Planted(Fault::kSwappedMxScales)) {
    const int64_t rows = c.num_local_experts;
    tensors_.gate_up_scales =
        Swapped(tensors_.gate_up_scales, rows * 2 * c.intermediate_size * hidden_blocks);
    tensors_.down_scales = Swapped(tensors_.down_scales, rows * c.hidden_size * inter_blocks);
  }
}

const uint8_t* LayerExperts::Joined(const std::vector<std::span<const uint8_t>>& parts, int64_t row_bytes,
                                    GateUpOrder order) {
  if (parts.size() == 1 && order == GateUpOrder::kInterleaved) return parts.front().data();
  std::vector<uint8_t>& all = joined_.emplace_back(parts.size() * parts.front().size());
  uint8_t* to = all.data();
  for (const std::span<const uint8_t> part : parts) {
    if (order == GateUpOrder::kSeparate) {
      Interleave(part, row_bytes, to);
    } else {
      std::copy(part.begin(), part.end(), to);
    }
    to += part.size();
  }
  return all.data();
}

const uint8_t* LayerExperts::Swapped(const uint8_t* scales, int64_t count) {
  std::vector<uint8_t>& all = joined_.emplace_back(scales, scales + count);
  for (size_t i = 0; i + 1 < all.size(); i += 2) std::swap(all[i], all[i + 1]);
  return all.data();
}

void WarnOfUnequalScales(const Checkpoint& checkpoint) {
  for (size_t l = 0; l < checkpoint.layers.size(); ++l) {
    const LayerTensors& layer = checkpoint.layers[l];
    for (const auto& [name, matrix] :
         {std::pair("gate_up_proj", &layer.gate_up), {"down_proj", &layer.down}}) {
      if (!Unequal(matrix->input_scales)) continue;
      spdlog::warn("layer {}: input_scale of {} differs between experts; the largest, {}, serves all", l,
                   name, Largest(matrix->input_scales));
    }
  }
}

double SeparationOfGateUp(const ModelConfig& config, const LayerTensors& layer) {
  Difference halves, parities;
  const auto rows = static_cast<size_t>(2 * config.intermediate_size);
  const std::vector<float> biases = Biases(layer.gate_up.biases, GateUpOrder::kInterleaved);
  for (size_t i = 0; i < biases.size(); ++i) {
    halves.Add(i % rows >= rows / 2, biases[i]);
    parities.Add(i % 2 == 1, biases[i]);
  }
  return halves.InErrors() - parities.InErrors();
}

void WarnOfUnlikelyGateUpOrder(const Checkpoint& checkpoint) {
  constexpr double kSure = 6;  // far beyond chance
  const bool separate = checkpoint.config.quantization.gate_up_order == GateUpOrder::kSeparate;
  size_t doubtful = 0;
  for (const LayerTensors& layer : checkpoint.layers) {
    const double separation = SeparationOfGateUp(checkpoint.config, layer);
    doubtful += separate ? separation < -kSure : separation > kSure;
  }
  if (2 * doubtful <= checkpoint.layers.size()) return;
  spdlog::warn(
      "the biases of gate_up_proj look {}, and {} is assumed: if answers make no sense, say so in "
      "config.json "
      "as quantization_config.gate_up_order",
      separate ? "interleaved" : "separate", separate ? "separate" : "interleaved");
}

}  // namespace assay::engine
