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

// One of the two matrices of a layer's experts as stored: an entry for all experts together or one for each,
// in the order of experts. `columns` are rows of the product's output.
struct ExpertMatrix {
  std::vector<std::span<const uint8_t>> blocks,
      scales;                       // MXFP4: [(experts,) columns, k / 32, 16], [.., k / 32]
  Bf16Span weight;                  // bf16: [experts, k, columns], the input axis first
  std::vector<TensorView> biases;   // [(experts,) columns], bf16 or float32
  std::vector<float> input_scales;  // [experts], FP8 activations only
};

struct LayerTensors {
  Bf16Span input_norm, post_attention_norm;  // [hidden]
  LinearTensors q, k, v, o, router;
  Bf16Span sinks;  // [heads]
  ExpertMatrix gate_up, down;
  float key_scale = 0, value_scale = 0;  // FP8 KV cache only; 0: not quantised
};

// A gpt-oss checkpoint in the Hugging Face layout, every tensor of which is there in the right type and
// shape. The spans point into mapped files.
struct Checkpoint {
  ModelConfig config;
  TensorFiles files;
  Bf16Span embedding, norm, lm_head;  // [vocab, hidden], [hidden], [vocab, hidden]
  std::vector<LayerTensors> layers;

  // What was read of the files need not stay in memory: it is read again if it is touched again. After
  // packing a layer, so that only one is in memory twice.
  void ReleaseFiles() const { files.Release(); }
};
Result<Checkpoint> OpenCheckpoint(const Path& folder);

// SHA-256 over the digests and names of config.json and the weight files.
Result<std::string> CheckpointHash(const Path& folder, const TensorFiles& files);

std::vector<float> Widen(Bf16Span values);
// A bf16 or float32 tensor.
std::vector<float> Widen(const TensorView& view);

}  // namespace assay::engine
