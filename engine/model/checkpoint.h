#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/model/config.h"
#include "engine/model/safetensors.h"
#include "kernels/bf16/bf16.h"

namespace assay::engine {

using Bf16Span = std::span<const kernels::Bf16>;

// A linear layer as stored: weight [columns, k], bias [columns].
struct LinearTensors {
  Bf16Span weight, bias;
};

struct LayerTensors {
  Bf16Span input_norm, post_attention_norm;  // [hidden]
  LinearTensors q, k, v, o, router;
  Bf16Span sinks;  // [heads]
  // OpenAI's MXFP4 layout, kernels/expert_matmul/expert_matmul.h has the shapes
  std::span<const uint8_t> gate_up_blocks, gate_up_scales, down_blocks, down_scales;
  Bf16Span gate_up_bias, down_bias;
};

// A gpt-oss checkpoint in the Hugging Face layout, every tensor of which is there in the right type and
// shape. The spans point into mapped files.
struct Checkpoint {
  ModelConfig config;
  TensorFiles files;
  Bf16Span embedding, norm, lm_head;  // [vocab, hidden], [hidden], [vocab, hidden]
  std::vector<LayerTensors> layers;
};
Result<Checkpoint> OpenCheckpoint(const Path& folder);

// SHA-256 over the digests and names of config.json and the weight files.
Result<std::string> CheckpointHash(const Path& folder, const TensorFiles& files);

std::vector<float> Widen(Bf16Span values);

}  // namespace assay::engine
